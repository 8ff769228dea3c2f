// The receiving side of the webhooks bench in a process of its own: takes posts over HTTP/1.1 and counts them
// by path. `/ok…` is answered 204, `/fail` 500, `/hang` never. Lean: it shares the cores.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const replies: Readonly<Record<string, string>> = {
  ok: 'HTTP/1.1 204 No Content\r\n\r\n',
  fail: 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n',
};

/** Count of posts answered 204. */
let taken = 0;
/** Count of posts answered otherwise. */
let refused = 0;
let onTaken: () => void = () => {};

function serve(socket: Socket): void {
  let pending: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    for (;;) {
      const head = pending.indexOf(headEnd);
      if (head < 0) return;
      const text = pending.toString('latin1', 0, head);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (pending.length < head + headEnd.length + length) return;
      pending = pending.subarray(head + headEnd.length + length);
      const word = /^POST \/(\w+)/.exec(text)?.[1] ?? '';
      const reply = replies[word.replace(/\d+$/, '')];
      if (!word.startsWith('ok')) refused += 1;
      if (reply === undefined) return;
      socket.write(reply);
      if (!word.startsWith('ok')) continue;
      taken += 1;
      onTaken();
    }
  });
}

// One port on many loopback addresses: each is an origin of its own.
const addresses = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 1}`);
let port = 0;
for (const address of addresses) {
  const server = createServer({ noDelay: true }, serve).listen(port, address);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
}
process.send?.({ port });
/** Reports to the parent when `count` posts were taken since the start. */
process.on('message', (count: number) => {
  onTaken = () => {
    if (taken < count) return;
    onTaken = () => {};
    process.send?.({ taken, refused });
  };
  onTaken();
});
process.once('disconnect', () => process.exit(0));
