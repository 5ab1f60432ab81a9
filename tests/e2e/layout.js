// SPDX-License-Identifier: Apache-2.0
// What is wrong with how the page is laid out, as sentences. An expression: an array of them.
(() => {
  const wrong = [], width = document.documentElement.clientWidth;
  const name = e => `${e.tagName} "${(e.querySelector("title") || e).textContent.trim().slice(0, 40)}"`;
  const all = selector => [...document.querySelectorAll(selector)];
  const inside = (a, b, by) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
  const apart = (a, b, by) => a.right <= b.left + by || b.right <= a.left + by || a.bottom <= b.top + by || b.bottom <= a.top + by;
  const overlapping = (elements, by) => {
    const boxes = elements.map(e => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width && r.height);
    for (const [i, [a, ra]] of boxes.entries())
      for (const [b, rb] of boxes.slice(i + 1))
        if (!a.contains(b) && !b.contains(a) && !apart(ra, rb, by)) wrong.push(`${name(a)} lies on ${name(b)}`);
  };

  // Nothing is wider than the page but what scrolls by itself.
  if (document.documentElement.scrollWidth > width) wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`);
  for (const e of all("body *"))
    if (e.getBoundingClientRect().right > width + 1 && !e.closest(".wide > *")) wrong.push(`${name(e)} ends beyond the window`);

  // Figures are there, their words are in them, legible, and none on another.
  for (const svg of all("svg")) {
    const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")];
    if (frame.width < 100 || frame.height < 40) wrong.push(`${name(svg)} is ${frame.width} x ${frame.height}`);
    if (!svg.querySelector("path, rect, circle")) wrong.push(`${name(svg)} is empty`);
    for (const text of texts) {
      const box = text.getBoundingClientRect();
      if (!inside(box, frame, 1)) wrong.push(`${name(text)} leaves ${name(svg)}`);
      if (Math.min(box.width, box.height) < 5 || Math.max(box.width, box.height) < 8) wrong.push(`${name(text)} of ${name(svg)} is too small`);
    }
    overlapping(texts, 1);
  }
  overlapping(all("h1, h2, h3, summary, p, dt, dd, figcaption, figure > svg, th, td, article > svg"), 1);
  for (const e of all("td > svg, td > span")) if (!inside(e.getBoundingClientRect(), e.parentNode.getBoundingClientRect(), 1)) wrong.push(`${name(e)} leaves its cell`);

  // Words stand out from what they are on: WCAG's contrast.
  const numbers = color => color.match(/[\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = numbers(color).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor, parts = numbers(color);
      if (parts.length < 4 || parts[3] > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  for (const e of all("h1, h2, h3, p, dt, dd, b, figcaption span, th, td, td span, svg text:not(.on)")) {
    const style = getComputedStyle(e), a = light(e instanceof SVGElement ? style.fill : style.color), b = light(ground(e.closest("svg") || e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) wrong.push(`${name(e)} has a contrast of ${contrast.toFixed(1)}`);
  }
  return wrong;
})()
