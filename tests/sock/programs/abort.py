# Breaks off the retrieval of a large file with ABOR, sent as urgent data, and goes on with the session. Arguments: PORT
import ftplib, socket, sys

ftp = ftplib.FTP(encoding="latin-1")
ftp.connect("127.0.0.1", int(sys.argv[1]), timeout=20)
ftp.login("anonymous", "x@")
ftp.voidcmd("TYPE I")
data = ftp.transfercmd("RETR large")
data.recv(100000)
ftp.sock.sendall(b"\xff\xf4")
ftp.sock.sendall(b"\xff", socket.MSG_OOB)
ftp.sock.sendall(b"\xf2ABOR\r\n")
data.close()
ftp.putcmd("SYST")
while ftp.getmultiline()[:3] != "215": # how many answers there are to that is a matter of luck
    pass
lines = []
ftp.retrlines("NLST", lines.append)
print(sorted(lines))
print(ftp.quit()[:3])
