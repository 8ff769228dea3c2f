// Counts open connections: in total, per remote address and per site (IPv4 /24, IPv6 /48). Decides
// on limits; sessions.ts has the connections.
import { networkOf, siteOf } from '../../src/platform/net/network-address.ts';
import { FairShare } from '../../src/platform/runtime/fairness/fair-share.ts';
import { isLoopback } from './connection.ts';

/** Sites of this machine. Local programs and relays may use all connections. */
const ownSites: ReadonlySet<string> = new Set(['127.0.0.0/24', '0:0:0::/48']);

export class ConnectionCounts {
  readonly #mostInAll: number;
  readonly #mostPerAddress: number;
  readonly #perNetwork = new Map<string, number>();
  readonly #sites: FairShare;
  #inAll = 0;

  constructor(mostInAll: number, mostPerAddress: number) {
    this.#mostInAll = mostInAll;
    this.#mostPerAddress = mostPerAddress;
    this.#sites = new FairShare(mostInAll);
  }

  get isFull(): boolean {
    return this.#inAll >= this.#mostInAll;
  }

  /** Counts a connection. Returns false, and does not count it, if it would exceed a limit. */
  admit(address: string): boolean {
    if (!this.#mayAdmit(address, null)) return false;
    const network = networkOf(address);
    this.#inAll += 1;
    this.#perNetwork.set(network, (this.#perNetwork.get(network) ?? 0) + 1);
    this.#sites.hold(siteOf(address));
    return true;
  }

  /** Returns whether a client at this address may replace a connection of `other`. */
  mayTakeOver(address: string, other: string): boolean {
    return this.#mayAdmit(address, siteOf(other));
  }

  /**
   * Returns whether the site (IPv4 /24, IPv6 /48) of `other` has more connections than the site of
   * `address` would have with one more.
   */
  hasMore(other: string, address: string): boolean {
    return this.#sites.heldBy(siteOf(other)) > this.#sites.heldBy(siteOf(address)) + 1;
  }

  #mayAdmit(address: string, handedOver: string | null): boolean {
    if (this.isFull && handedOver === null) return false;
    const fromThere = this.#perNetwork.get(networkOf(address)) ?? 0;
    if (fromThere >= this.#mostPerAddress && !isLoopback(address)) return false;
    const site = siteOf(address);
    return ownSites.has(site) || this.#sites.mayHold(site, 1, handedOver);
  }

  release(address: string): void {
    const network = networkOf(address);
    const left = (this.#perNetwork.get(network) ?? 1) - 1;
    this.#inAll -= 1;
    this.#sites.letGo(siteOf(address));
    if (left > 0) this.#perNetwork.set(network, left);
    else this.#perNetwork.delete(network);
  }
}
