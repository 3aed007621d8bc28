"""reorder.py IF1 IF2: joins two interfaces, and changes the order of what it carries.

Three of a hundred larger frames wait until up to nine others have passed, or 3 ms."""
import random, select, socket, sys, time

ends = []
for name in sys.argv[1:]:
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    s.bind((name, 3))
    ends.append(s)
other = {ends[0]: ends[1], ends[1]: ends[0]}
held = {ends[0]: [], ends[1]: []}
random.seed(1)
print("ready", flush=True)
while True:
    for s in select.select(ends, [], [], 0.002)[0]:
        for _ in range(64):
            try:
                frame, origin = s.recvfrom(65536, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            if origin[2] == socket.PACKET_OUTGOING:
                continue
            if len(frame) > 60 and random.random() < 0.03:
                held[s].append([random.randrange(1, 10), time.monotonic(), frame])
                continue
            other[s].send(frame)
            for h in held[s]:
                h[0] -= 1
    for s in ends:
        for h in [h for h in held[s] if h[0] <= 0 or time.monotonic() - h[1] > 0.003]:
            held[s].remove(h)
            other[s].send(h[2])
