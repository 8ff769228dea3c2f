// How many connections are open, in all and per remote address. The caps are decided here, the
// connections themselves are sessions.ts.
import { networkOf } from '../../src/net/network-address.ts';
import { isLoopback } from './connection.ts';

export class ConnectionCounts {
  readonly #mostInAll: number;
  readonly #mostPerAddress: number;
  readonly #perNetwork = new Map<string, number>();
  #inAll = 0;

  constructor(mostInAll: number, mostPerAddress: number) {
    this.#mostInAll = mostInAll;
    this.#mostPerAddress = mostPerAddress;
  }

  get isFull(): boolean {
    return this.#inAll >= this.#mostInAll;
  }

  /** Counts a connection, unless it would be one too many. */
  admit(address: string): boolean {
    const network = networkOf(address);
    const fromThere = this.#perNetwork.get(network) ?? 0;
    if (this.isFull) return false;
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
