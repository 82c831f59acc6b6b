# A recipe for Spack.
try:  # from 1.0 on
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass
from spack.package import *


class Viaduct(CMakePackage):
    """Small, fast communication library for clusters, with MPI in the standard ABI."""

    license("BSD-3-Clause")
    version("main")

    variant("fortran", default=True, description="MPI for Fortran")
    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    provides("mpi@:5.0")

    def cmake_args(self):
        return [self.define("VIADUCT_TESTS", False), self.define_from_variant("VIADUCT_FORTRAN", "fortran")]

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("MPICC", join_path(self.prefix.bin, "mpicc"))
        env.set("MPICXX", join_path(self.prefix.bin, "mpicxx"))
        env.set("MPIFC", join_path(self.prefix.bin, "mpifort"))
        module = dependent_spec.package.module
        for variable, compiler in (("MPI_CC", "spack_cc"), ("MPI_CXX", "spack_cxx"), ("MPI_FC", "spack_fc")):
            if hasattr(module, compiler):  # the languages of that package
                env.set(variable, getattr(module, compiler))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        self.spec.mpifc = join_path(self.prefix.bin, "mpifort")
        self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")
