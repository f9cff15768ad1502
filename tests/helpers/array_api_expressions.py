"""The requirements of the array API standard (2024.12): expressions over `xp` and arrays of each kind.

F are floats, I integers, U unsigned integers, T booleans, Z complex numbers; V and W are vectors, N a vector
with NaN and infinities, S a symmetric positive definite matrix, Q a stack of matrices, K indices.
"""

from __future__ import annotations

CONSTANTS = """
xp.e
xp.inf
xp.nan
xp.newaxis
xp.pi
xp.__array_api_version__
"""

CREATION = """
xp.arange(5)
xp.arange(2, 9, 3)
xp.arange(2.0, 3.5, 0.5, dtype=xp.float32)
xp.arange(5, 1, -2, dtype=xp.int8)
xp.arange(3, device="cpu")
xp.arange(3, device="cuda")
xp.asarray([[1, 2], [3, 4]])
xp.asarray(2.5, dtype=xp.float32, device="cpu", copy=True)
xp.asarray([True, False])
xp.asarray(1j)
xp.asarray(F, copy=False)
xp.asarray([1, 2], copy=False)
xp.asarray(F, dtype=xp.int16, copy=None)
xp.asarray(F, dtype=xp.int16, copy=False)
xp.asarray([F[0], F[1]])
xp.asarray(2**40)
xp.empty((2, 3)).shape
xp.empty(4, dtype=xp.complex64, device="cpu").dtype
xp.empty_like(F, dtype=xp.int8, device="cpu").dtype
xp.eye(3)
xp.eye(2, 3, k=-1, dtype=xp.uint8, device="cpu")
xp.from_dlpack(F)
xp.from_dlpack(F, device="cpu", copy=True)
xp.from_dlpack(F, copy=False)
xp.from_dlpack(F, device="cuda")
xp.full((2,), 3)
xp.full((2, 2), 1.5, dtype=xp.float32, device="cpu")
xp.full(3, True)
xp.full((), 1j)
xp.full_like(F, 2)
xp.full_like(I, 7, dtype=xp.float64, device="cpu")
xp.linspace(0, 1, 4)
xp.linspace(0, 1, 4, dtype=xp.float32, device="cpu", endpoint=False)
xp.linspace(0, 1j, num=3)
xp.meshgrid(V, W)
xp.meshgrid(V, W, indexing="ij")
xp.meshgrid()
xp.ones((2, 3), dtype=xp.bool, device="cpu")
xp.ones_like(Z, dtype=None, device=None)
xp.tril(F)
xp.tril(Q, k=1)
xp.triu(F, k=-1)
xp.zeros(3)
xp.zeros((2, 0), dtype=xp.int16, device="cpu")
xp.zeros_like(U, device="cpu")
xp.zeros(2, device="nowhere")
"""

DATA_TYPES = """
xp.astype(F, xp.int32)
xp.astype(F, F.dtype, copy=False) is F
xp.astype(F, F.dtype, copy=True)
xp.astype(F, xp.float32, device="cpu")
xp.astype(F, xp.float32, device="cuda")
xp.astype(F, xp.float32, copy=True, device=None)
xp.astype(T, xp.complex64)
xp.astype(I, xp.bool)
xp.astype(Z, xp.float64)
xp.broadcast_arrays(V, F)
xp.broadcast_arrays(V, W)
xp.broadcast_to(V, (2, 3))
xp.broadcast_to(V, (4, 4))
xp.can_cast(xp.int8, xp.int16)
xp.can_cast(F, xp.float32)
xp.can_cast(xp.uint64, xp.int64)
xp.finfo(xp.float32).bits
xp.finfo(xp.float64).smallest_normal
xp.finfo(I)
xp.iinfo(xp.int16).max
xp.iinfo(xp.float32)
xp.isdtype(xp.int8, "integral")
xp.isdtype(F.dtype, ("real floating", "bool"))
xp.isdtype(xp.float32, xp.float32)
xp.isdtype(Z.dtype, "complex floating")
xp.isdtype(xp.uint8, ("signed integer", xp.uint16))
xp.isdtype(xp.uint8, "unsigned integer")
xp.isdtype(xp.bool, "numeric")
xp.isdtype(xp.bool, "no kind")
xp.result_type(F, I)
xp.result_type(I, 2.5)
xp.result_type(xp.int8, xp.uint16, 3)
xp.result_type(F, xp.complex64)
xp.result_type(T, True)
xp.result_type(1, 2.0)
xp.result_type()
"""

INFORMATION = """
xp.__array_namespace_info__().capabilities()["boolean indexing"]
xp.__array_namespace_info__().capabilities()
xp.__array_namespace_info__().default_device()
xp.__array_namespace_info__().default_dtypes()
xp.__array_namespace_info__().default_dtypes(device="cpu")
xp.__array_namespace_info__().default_dtypes(device="cuda")
xp.__array_namespace_info__().devices()
xp.__array_namespace_info__().dtypes()
xp.__array_namespace_info__().dtypes(device="cpu", kind="integral")
xp.__array_namespace_info__().dtypes(kind=("bool", "real floating"))
xp.__array_namespace_info__().dtypes(kind="no kind")
F.__array_namespace__() is xp
F.__array_namespace__(api_version="2021.12") is xp
F.__array_namespace__(api_version="2022.12") is xp
F.__array_namespace__(api_version="2023.12") is xp
F.__array_namespace__(api_version="2024.12") is xp
F.__array_namespace__(api_version="2025.12") is xp
F.__array_namespace__(api_version=None) is xp
F.__array_namespace__(api_version="1999.01")
F.__array_namespace__(api_version=2023)
F.sum().__array_namespace__() is xp
F.__array_namespace__().sum(F, axis=0)
"""

ARRAYS = """
F.dtype
F.device
F.mT
V.mT
Q.mT
F.T
F.ndim
F.shape
F.size
F.to_device("cpu")
F.to_device("cpu", stream=None)
F.to_device("cuda")
F.to_device("cpu", stream=1)
F.__dlpack_device__()
F.__dlpack__(stream=1)
type(F.__dlpack__()).__name__
type(F.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=True)).__name__
type(F.__dlpack__(max_version=None, copy=None)).__name__
type(F.__dlpack__(copy=False)).__name__
F.__dlpack__(dl_device=(2, 0))
F.__dlpack__(max_version="x")
F.sum().__dlpack_device__()
abs(I)
-F
+F
~I
~T
~F
F + I
F - V
F * 2
F / I
I // 2
I % 3
F ** 2
I ** I
S @ S
V @ V
I & 3
I | U
I ^ I
T & T
I << 1
I >> 1
F < I
F <= 1
F > 0.5
F >= F
F == I
F != 2
2 + F
2 - F
2.5 * I
1 / F
7 // I
7 % I
2 ** F
3 & I
3 | I
3 ^ I
1 << I
64 >> I
True & T
F.__add__(1j)
I.__rsub__(2)
I.__iadd__(2)
I.__iadd__(2.5)
I.__itruediv__(2)
F.__imul__(I)
F.__ipow__(2)
F.__isub__(V)
F.__ifloordiv__(2)
F.__imod__(2)
F.__itruediv__(3)
S.__imatmul__(S)
I.__iand__(6)
I.__ior__(1)
I.__ixor__(5)
I.__ilshift__(2)
I.__irshift__(1)
V.__iadd__(F)
bool(F[0, 0])
bool(F)
int(F[1, 1])
float(I[0, 0])
complex(F[0, 0])
complex(Z[0, 0])
float(Z[0, 0])
int(F)
I[0, 0].__index__()
xp.asarray(3).__index__()
xp.asarray(3.5).__index__()
[10, 20, 30][xp.asarray(2)]
[10, 20, 30][F[1, 0]]
F[0]
F[-1, 1:]
F[..., 0]
F[:, None, ::2]
F[::-1, ::-1]
F[T]
F[K]
F[K, 0]
F[K, K]
F[()]
F[2]
F[0, 0, 0]
F[T, 0]
F[xp.asarray(True)]
F[1, xp.asarray(0)]
V[xp.asarray([], dtype=xp.int64)]
V[[True, False]]
F.__setitem__(0, 5)
F.__setitem__((slice(None), 1), V[:2])
F.__setitem__(T, 0)
F.__setitem__((K, 0), 7.5)
F.__setitem__(2, 0)
I.__setitem__((0, 0), 2.5)
len(F)
len(xp.asarray(1))
list(V)
"""

INDEXING = """
xp.take(F, K, axis=0)
xp.take(V, K)
xp.take(F, xp.asarray([5]), axis=1)
xp.take_along_axis(F, xp.argsort(F, axis=0), axis=0)
xp.take_along_axis(F, xp.argsort(F), axis=-1)
xp.take_along_axis(F, V, axis=0)
"""

LINALG = """
xp.matmul(S, S)
xp.matmul(S, V)
xp.matmul(V, Q[..., 0])
xp.matmul(V, 2)
xp.matmul(F, F)
xp.matrix_transpose(Q)
xp.matrix_transpose(V)
xp.tensordot(F, F, axes=((1,), (1,)))
xp.tensordot(S, S, axes=0)
xp.tensordot(S, S)
xp.tensordot(F, F, axes=1)
xp.vecdot(V, V)
xp.vecdot(Z, Z)
xp.vecdot(Z, F, axis=-2)
xp.vecdot(V, W)
xp.linalg.cholesky(S)
xp.linalg.cholesky(S, upper=True)
xp.linalg.cholesky(-S)
xp.linalg.cross(S, S[::-1], axis=0)
xp.linalg.cross(V, S)
xp.linalg.cross(W, W)
xp.linalg.det(S)
xp.linalg.det(Q)
xp.linalg.det(F)
xp.linalg.diagonal(Q, offset=1)
xp.linalg.diagonal(V)
xp.linalg.eigh(S).eigenvalues
abs(xp.linalg.eigh(S).eigenvectors)
type(xp.linalg.eigh(S)).__name__
xp.linalg.eigvalsh(S)
xp.linalg.inv(S)
xp.linalg.inv(Q)
xp.linalg.inv(xp.zeros((2, 2)))
xp.linalg.matmul(S, S)
xp.linalg.matrix_norm(Q)
xp.linalg.matrix_norm(S, ord="nuc", keepdims=True)
xp.linalg.matrix_norm(S, ord=-2)
xp.linalg.matrix_norm(V)
xp.linalg.matrix_power(S, 3)
xp.linalg.matrix_power(S, -1)
xp.linalg.matrix_power(S, 0)
xp.linalg.matrix_power(F, 2)
xp.linalg.matrix_rank(S, rtol=0.5)
xp.linalg.matrix_rank(Q)
xp.linalg.matrix_transpose(Q)
xp.linalg.outer(V, W)
xp.linalg.outer(F, V)
xp.linalg.pinv(F)
xp.linalg.pinv(F, rtol=0.25)
abs(xp.linalg.qr(S).R)
abs(xp.linalg.qr(F, mode="complete").Q)
xp.linalg.qr(F, mode="no mode")
xp.linalg.slogdet(S).logabsdet
xp.linalg.slogdet(-Q).sign
xp.linalg.solve(S, V)
xp.linalg.solve(S, S)
xp.linalg.solve(F, V)
xp.linalg.svd(F, full_matrices=False).S
abs(xp.linalg.svd(F, full_matrices=True).Vh)
xp.linalg.svdvals(Q)
xp.linalg.tensordot(S, S, axes=1)
xp.linalg.trace(Q, offset=-1)
xp.linalg.trace(I[:, :2], dtype=xp.float32)
xp.linalg.trace(V)
xp.linalg.vecdot(V, V, axis=0)
xp.linalg.vector_norm(F)
xp.linalg.vector_norm(Q, axis=(0, 2), keepdims=True, ord=1)
xp.linalg.vector_norm(V, ord=xp.inf)
xp.linalg.vector_norm(Z, axis=1, ord=0)
"""

FFT = """
xp.fft.fft(V)
xp.fft.fft(F, n=4, axis=0, norm="ortho")
xp.fft.ifft(Z, n=2, axis=-1, norm="forward")
xp.fft.fftn(F)
xp.fft.fftn(F, s=(2, 2), axes=(0, 1), norm="backward")
xp.fft.ifftn(Z, axes=(0,))
xp.fft.rfft(V, n=4)
xp.fft.rfft(Z)
xp.fft.irfft(Z, n=4, axis=1)
xp.fft.rfftn(F, axes=(0, 1))
xp.fft.irfftn(Z, s=(2, 4), axes=(0, 1))
xp.fft.hfft(Z, n=5)
xp.fft.ihfft(V, norm="ortho")
xp.fft.fftfreq(5, d=0.5)
xp.fft.fftfreq(4, device="cpu")
xp.fft.fftfreq(4, device="cuda")
xp.fft.rfftfreq(5, d=2.0, device="cpu")
xp.fft.fftshift(F)
xp.fft.fftshift(F, axes=1)
xp.fft.ifftshift(V, axes=0)
xp.fft.fft(V.astype(xp.float32))
xp.fft.fft(V, norm="no norm")
xp.fft.fft(V, n=0)
"""

MANIPULATION = """
xp.concat((F, F))
xp.concat([F, I], axis=1)
xp.concat((F, V), axis=None)
xp.concat((F, V))
xp.concat([])
xp.expand_dims(V, axis=1)
xp.expand_dims(F, axis=-3)
xp.expand_dims(F, axis=5)
xp.expand_dims(F)
xp.flip(F)
xp.flip(F, axis=1)
xp.flip(Q, axis=(0, -1))
xp.moveaxis(Q, 0, -1)
xp.moveaxis(Q, (0, 1), (-1, 0))
xp.moveaxis(Q, 7, 0)
xp.permute_dims(Q, (2, 0, 1))
xp.permute_dims(Q, axes=(0, 0, 1))
xp.repeat(F, 2)
xp.repeat(F, 2, axis=0)
xp.repeat(V, K)
xp.reshape(F, (3, 2))
xp.reshape(F, shape=(-1,), copy=True)
xp.reshape(F, (6,), copy=False)
xp.reshape(F, (4,))
xp.roll(V, 1)
xp.roll(F, (1, -1), axis=(0, 1))
xp.roll(F, shift=2, axis=None)
xp.squeeze(F[None], axis=0)
xp.squeeze(F, axis=0)
xp.stack((V, V))
xp.stack([F, I], axis=-1)
xp.stack((V, W))
xp.tile(V, (2, 2))
xp.tile(F, (2,))
xp.unstack(F)
xp.unstack(F, axis=1)
xp.unstack(xp.asarray(1))
"""

SEARCHING = """
xp.argmax(F)
xp.argmax(F, axis=0, keepdims=True)
xp.argmax(V[:0])
xp.argmin(F, axis=-1)
xp.argmin(I, keepdims=True)
xp.count_nonzero(I)
xp.count_nonzero(F > 1, axis=0)
xp.count_nonzero(T, axis=(0, 1), keepdims=True)
xp.nonzero(I)
xp.nonzero(xp.asarray(1))
xp.searchsorted(xp.sort(V), W)
xp.searchsorted(xp.sort(V), W, side="right")
xp.searchsorted(V, V, side="left", sorter=xp.argsort(V))
xp.searchsorted(V, V, side="middle")
xp.where(T, F, I)
xp.where(T, F, 1)
xp.where(T, 1.5, I)
xp.where(T, F, V)
xp.where(T, F, W)
"""

SETS = """
xp.sort(xp.unique_values(I))
xp.sort(xp.unique_values(Z))
xp.unique_values(N)
xp.unique_counts(I)
xp.unique_counts(N).counts
xp.unique_inverse(I).inverse_indices
xp.unique_inverse(N)
xp.unique_all(I)
xp.unique_all(N).indices
type(xp.unique_all(I)).__name__
xp.unique_values(T)
xp.unique_values(F[:, :0])
"""

SORTING = """
xp.sort(F)
xp.sort(F, axis=0)
xp.sort(N)
xp.sort(F, stable=True)
xp.sort(F, axis=2)
xp.sort(F, descending=True)
xp.sort(N, descending=True, stable=True)
xp.sort(Z, axis=0, descending=True)
xp.sort(U, descending=False)
xp.sort(I, kind="stable", descending=True)
xp.argsort(F, axis=0, stable=True)
xp.argsort(I[0], stable=True)
xp.argsort(I[0] % 2, descending=True, stable=True)
xp.argsort(N, descending=True, stable=True)
xp.argsort(T, axis=0, stable=True, descending=True)
xp.argsort(Z, axis=1, stable=True, descending=True)
"""

STATISTICS = """
xp.cumulative_prod(V)
xp.cumulative_prod(F, axis=1, include_initial=True)
xp.cumulative_prod(F)
xp.cumulative_prod(I, axis=0, dtype=xp.float32)
xp.cumulative_sum(V)
xp.cumulative_sum(F, axis=0, dtype=xp.float32, include_initial=True)
xp.cumulative_sum(F)
xp.cumulative_sum(xp.asarray(3))
xp.cumulative_sum(U, axis=-1)
xp.cumulative_sum(T, axis=-1)
xp.max(F)
xp.max(I, axis=(0, 1), keepdims=True)
xp.max(N)
xp.max(V[:0])
xp.mean(F)
xp.mean(F, axis=0, keepdims=True)
xp.mean(Z, axis=1)
xp.min(F, axis=1)
xp.min(U)
xp.prod(I)
xp.prod(F, axis=1, dtype=xp.float32, keepdims=True)
xp.prod(V[:0])
xp.prod(I.astype(xp.int8))
xp.std(F)
xp.std(F, axis=0, correction=1)
xp.std(F, axis=(0, 1), correction=0.5, keepdims=True)
xp.std(F, correction=1, ddof=1)
xp.sum(I)
xp.sum(T)
xp.sum(I.astype(xp.int8))
xp.sum(U.astype(xp.uint8), axis=0)
xp.sum(F.astype(xp.float32))
xp.sum(F, axis=(0, 1), dtype=xp.float32, keepdims=True)
xp.sum(V[:0])
xp.var(F, axis=1, correction=1, keepdims=True)
xp.var(V, correction=3)
"""

UTILITIES = """
xp.all(F)
xp.all(T, axis=0)
xp.all(T, axis=(0, 1), keepdims=True)
xp.all(V[:0])
xp.any(T)
xp.any(F > 9, axis=1, keepdims=True)
xp.any(Z)
xp.diff(V)
xp.diff(F, axis=0, n=1)
xp.diff(F, n=2, axis=-1)
xp.diff(V, prepend=xp.asarray([0.0]), append=W)
xp.diff(V, n=-1)
"""

ELEMENTWISE = """
xp.clip(F)
xp.clip(F, 0)
xp.clip(F, None, 1)
xp.clip(F, 0, 1)
xp.clip(I, min=1)
xp.clip(I, max=2)
xp.clip(I, min=0, max=3)
xp.clip(I, 0.5, 3)
xp.clip(F, min=V, max=2)
xp.clip(I, U, 4)
xp.clip(F, 0, W)
xp.clip(N, 0, 1)
xp.clip(F, min=xp.nan)
xp.clip(I.astype(xp.int8), -1000, 1000)
xp.clip(F.astype(xp.float32), xp.asarray(0.5), xp.asarray(2.0))
xp.conj(F)
xp.conj(Z)
xp.conj(I)
xp.imag(Z)
xp.imag(F)
xp.real(Z)
xp.real(I)
xp.logical_not(F)
xp.maximum(F, 1)
xp.minimum(1, F)
xp.add(F, 1)
xp.add(2.5, I)
xp.add(True, I)
xp.pow(2, I)
xp.pow(I, -1)
xp.atan2(1.0, F)
xp.hypot(F, 3)
xp.round(F)
xp.round(Z)
xp.sign(Z)
xp.sign(xp.asarray(0j))
xp.reciprocal(F)
xp.signbit(F)
xp.nextafter(F, xp.inf)
xp.copysign(F, -1)
"""

SECTIONS = {
    name.lower(): text.strip().splitlines()
    for name, text in list(globals().items())
    if name.isupper() and isinstance(text, str)
}
