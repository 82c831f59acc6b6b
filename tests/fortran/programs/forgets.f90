! Forgets a communicator: VIADUCT_CHECK names the line of the call, in a comment behind it.
program forgets
  use mpi_f08
  implicit none
  type(MPI_Comm) :: dup
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, dup) ! here
  call MPI_Finalize()
end program
