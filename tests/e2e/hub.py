"""A hub with VLANs, where the kernel has none: hub.py IF=VLAN... IF

What comes in at an access port (IF=10) leaves by all other ports of that VLAN, tagged by a trunk
(IF alone). A trunk's frames without a tag are of VLAN 0. The kernel takes the outermost tag off a
frame that it hands to a packet socket and says it beside.
"""

import select
import socket
import struct
import sys

PACKET_AUXDATA = 8
SOL_PACKET = 263
VLAN_VALID = 1 << 4
TPID_VALID = 1 << 6

class Port:
    def __init__(self, text):
        name, _, vlan = text.partition("=")
        self.vlan = int(vlan) if vlan else None
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.setsockopt(SOL_PACKET, 23, 1)  # PACKET_IGNORE_OUTGOING
        self.socket.bind((name, 3))

    def receive(self):
        """The VLAN and the frame, which of a trunk is without its outermost tag."""
        frame, extra, _, _ = self.socket.recvmsg(65536, 256)
        for _, kind, data in extra:
            status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", data[:20])
            if kind == PACKET_AUXDATA and status & VLAN_VALID:
                return tci & 0xfff if self.vlan is None else -1, frame
        return self.vlan or 0, frame

    def send(self, vlan, frame):
        if self.vlan is None and vlan:
            frame = frame[:12] + struct.pack(">HH", 0x8100, vlan) + frame[12:]
        try:
            self.socket.send(frame)
        except OSError:
            pass


ports = [Port(text) for text in sys.argv[1:]]
by_number = {port.socket.fileno(): port for port in ports}
poll = select.poll()
for number in by_number:
    poll.register(number, select.POLLIN)
print("ready", flush=True)
while True:
    for number, _ in poll.poll():
        vlan, frame = by_number[number].receive()
        for port in ports if vlan >= 0 else []:
            if port is not by_number[number] and port.vlan in (None, vlan):
                port.send(vlan, frame)
