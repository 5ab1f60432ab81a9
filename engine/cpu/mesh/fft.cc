// SPDX-License-Identifier: Apache-2.0
//
// Three-dimensional real transforms from kissfft's header-only complex transform, in double. Two real rows make one
// complex row; along the other axes rows are copied out, transformed and put back.
#include "engine/cpu/mesh/fft.h"

#include <algorithm>
#include <complex>
#include <map>
#include <memory>
#include <vector>

#include <kissfft/kissfft.hh>

namespace
{

using complex = std::complex<double>;
using plan = kissfft<double>;

const plan &plan_of(int32_t size, bool inverse)
{
    static thread_local std::map<std::pair<int32_t, bool>, std::unique_ptr<plan>> plans;
    auto &p = plans[{size, inverse}];
    if (!p)
        p = std::make_unique<plan>(static_cast<std::size_t>(size), inverse);
    return *p;
}

struct fft_rows {
    std::vector<complex> in, out;
    explicit fft_rows(int32_t n) : in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n))
    {
    }
};

// Transforms of rows of `size` elements `stride` apart, starting at `at`.
void strided(complex *at, int32_t size, std::ptrdiff_t stride, bool inverse, fft_rows &r)
{
    for (int32_t k = 0; k < size; k++)
        r.in[static_cast<std::size_t>(k)] = at[k * stride];
    plan_of(size, inverse).transform(r.in.data(), r.out.data());
    for (int32_t k = 0; k < size; k++)
        at[k * stride] = r.out[static_cast<std::size_t>(k)];
}

// Of waves up to most[1] and most[2] along those axes.
void other_axes(const int32_t n[3], const int32_t most[3], complex *s, bool inverse)
{
    const std::ptrdiff_t nz = n[2] / 2 + 1, plane = n[1] * nz, z_end = std::min(nz, std::ptrdiff_t(most[2]) + 1);
    fft_rows ry(n[1]), rx(n[0]);
    for (int32_t x = 0; x < n[0]; x++)
        for (std::ptrdiff_t z = 0; z < z_end; z++)
            strided(s + x * plane + z, n[1], nz, inverse, ry);
    for (int32_t y = 0; y < n[1]; y++)
        for (std::ptrdiff_t z = 0; z < z_end && std::min(y, n[1] - y) <= most[1]; z++)
            strided(s + y * nz + z, n[0], plane, inverse, rx);
}

} // namespace

extern "C" void fft_forward_low(const int32_t n[3], const int32_t most[3], const double *mesh, double *spectrum)
{
    const std::ptrdiff_t count = std::ptrdiff_t(n[0]) * n[1], nz = n[2], half = nz / 2 + 1;
    complex *s = reinterpret_cast<complex *>(spectrum);
    const plan &p = plan_of(n[2], false);
    fft_rows r(n[2]);
    for (std::ptrdiff_t row = 0; row < count; row += 2) {
        const double *a = mesh + row * nz, *b = row + 1 < count ? a + nz : nullptr;
        for (std::ptrdiff_t z = 0; z < nz; z++)
            r.in[size_t(z)] = complex(a[z], b ? b[z] : 0.0);
        p.transform(r.in.data(), r.out.data());
        for (std::ptrdiff_t z = 0; z < half; z++) { // of a + i b: A = (F(z) + F*(-z))/2, B = (F(z) - F*(-z))/2i
            const complex f = r.out[size_t(z)], g = std::conj(r.out[size_t(z ? nz - z : 0)]);
            s[row * half + z] = 0.5 * (f + g);
            if (b)
                s[(row + 1) * half + z] = complex(0.5 * (f.imag() - g.imag()), -0.5 * (f.real() - g.real()));
        }
    }
    other_axes(n, most, s, false);
}

extern "C" void fft_forward(const int32_t n[3], const double *mesh, double *spectrum)
{
    fft_forward_low(n, n, mesh, spectrum);
}

extern "C" void fft_backward(const int32_t n[3], double *spectrum, double *mesh)
{
    const std::ptrdiff_t count = std::ptrdiff_t(n[0]) * n[1], nz = n[2], half = nz / 2 + 1;
    complex *s = reinterpret_cast<complex *>(spectrum);
    const plan &p = plan_of(n[2], true);
    fft_rows r(n[2]);
    other_axes(n, n, s, true);
    for (std::ptrdiff_t row = 0; row < count; row += 2) {
        const complex *a = s + row * half, *b = row + 1 < count ? a + half : nullptr;
        for (std::ptrdiff_t z = 0; z < half; z++) { // rows that are real after the transform: F(-z) = F*(z)
            complex u = a[z], v = b ? b[z] : complex(0.0, 0.0);
            if (z == 0 ||
                2 * z == nz) // in a triclinic box m and -m differ at half the sampling frequency, and leave something
                u = u.real(), v = v.real();
            const complex iv(-v.imag(), v.real());
            r.in[size_t(z)] = u + iv;
            if (z && z < nz - z)
                r.in[size_t(nz - z)] = std::conj(u) + complex(v.imag(), v.real());
        }
        p.transform(r.in.data(), r.out.data());
        for (std::ptrdiff_t z = 0; z < nz; z++) {
            mesh[row * nz + z] = r.out[size_t(z)].real();
            if (b)
                mesh[(row + 1) * nz + z] = r.out[size_t(z)].imag();
        }
    }
}
