# The doctor tells which ways lead to a host, how good they are, which are not used and why, and who cannot be reached.
# timeout: 120 waits: 12
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 2
export HYDRA_LAUNCHER_EXEC=lab-rsh
doctor="$VIADUCT_BIN/viaduct doctor"
number='[0-9]+\.[0-9]+'
way() { echo "way +eth$1 10\.77\.$1\.1 - 10\.77\.$1\.2: $number us one way, $number GB/s"; }
lab-rsh h1 "ip link add dead0 type bridge; ip addr add 10.99.0.1/24 dev dead0"
expect 0 "~^h1.*host +h1, Linux .*reached +in .*node +another.*secret .*there +dead0 .*not used: it is down.*$(way 0).*$(way 1).*together +2 ways" \
    "" timeout 30 $doctor h1
lab-link h1 0 mute
connected() { ss -Htn state established src 10.77.1.1 | grep -q .; }
{ eventually 20 connected && lab-link h1 0 restore; } &
expect 0 "~$(way 0).*$(way 1).*together +2 ways" "" timeout 30 $doctor h1 # although the second one is up first
wait
{ eventually 20 connected && lab-link h1 0 reset; } &
expect 0 "~way +eth0 .*$(way 1).*together +[23] ways" "" timeout 30 $doctor h1 # whatever becomes of the first one
wait
expect 1 "~^far.*h0.*node +this one" "~^viaduct: cannot start ranks on far: .*resolve hostname far" timeout 30 $doctor far h0
lab-link h1 1 mute
expect 0 "~$(way 0).*rail 1: eth1 10.77.1.1 - 10.77.1.2: not used: connecting .*together +1 way," "" timeout 30 $doctor h1
lab-link h1 0 mute
expect 1 "~rail 0: eth0 .*not used: connecting" "" timeout 12 $doctor h1
expect 0 "~^usage: viaduct doctor" "" $doctor --help
finish
