// How many connections are open, in all and per remote address. The caps are decided here, the
// connections themselves are sessions.ts.
import { isIPv6 } from 'node:net';
import { isLoopback } from './connection.ts';

/** The network whose connections count together: IPv6 hosts own a /64 (RFC 6177). */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + last.length < 8) groups.push('0');
  const network = [...groups, ...last].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

export class ConnectionCounts {
  readonly #mostInAll: number;
  readonly #mostPerAddress: number;
  readonly #perNetwork = new Map<string, number>();
  #inAll = 0;

  constructor(mostInAll: number, mostPerAddress: number) {
    this.#mostInAll = mostInAll;
    this.#mostPerAddress = mostPerAddress;
  }

  /** Counts a connection, unless it would be one too many. */
  admit(address: string): boolean {
    const network = networkOf(address);
    const fromThere = this.#perNetwork.get(network) ?? 0;
    if (this.#inAll >= this.#mostInAll) return false;
    if (fromThere >= this.#mostPerAddress && !isLoopback(address)) return false;
    this.#inAll += 1;
    this.#perNetwork.set(network, fromThere + 1);
    return true;
  }

  release(address: string): void {
    const network = networkOf(address);
    const left = (this.#perNetwork.get(network) ?? 1) - 1;
    this.#inAll -= 1;
    if (left > 0) this.#perNetwork.set(network, left);
    else this.#perNetwork.delete(network);
  }
}
