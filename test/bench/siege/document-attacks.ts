// The attacks of strangers without a key over HTTP: documents asked for by the thousand on one
// connection, and clients that take nothing of their answers.
import { connect } from 'node:net';
import type { Attack } from './attackers.ts';
import { times } from './http-attacks.ts';
import type { Siege } from './siege.ts';

const attacker = '127.0.1.2';
const pipelined = 2_000;
const slowClients = 300;
/** Time in ms for which an attack holds its connection. */
const heldMs = 20_000;
const paths = ['/docs', '/v1/openapi.json', '/metrics', '/docs?q=e'];

/** Asks `count` times on one connection; resolves with 'cut' or 'held'. */
function hold({ httpPort }: Siege, path: string, count: number, isReading: boolean) {
  return new Promise<string>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: httpPort, localAddress: attacker });
    const end = (how: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(how);
    };
    const timer = setTimeout(end, heldMs, 'held');
    if (isReading) socket.resume();
    socket.on('error', () => {});
    socket.once('close', () => end('cut'));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
  });
}

export function documentAttacks(siege: Siege): Record<string, Attack> {
  const pathOf = (n: number) => paths[n % paths.length] ?? '/docs';
  return {
    ...times(paths.length, 'pipelined documents', (n) => hold(siege, pathOf(n), pipelined, true)),
    ...times(slowClients, 'slow reader', (n) => hold(siege, pathOf(n), 1, false)),
  };
}
