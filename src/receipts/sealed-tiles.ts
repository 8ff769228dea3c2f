// Hashes of a sealed tree, read in the order of event ids together with the log. Only tiles with
// the current id in their range are in memory: usually a single tile, or a few if a clock was set
// back. The hashes left when a tile ends are hashes of deleted events.
import type { App } from '../core/app.ts';
import type { Hash } from '../history/events/leaf.ts';
import { findTile, selectTileRanges, type TileRange } from './queries.ts';
import { hashesOf, rootOver, tileSize } from './tree.ts';

const rangesAtOnce = 1_000;

interface OpenTile {
  lastId: string;
  /** Hashes for which no event was found so far. */
  left: Set<Hash>;
  /** Events in the range of the tile that were changed since their seal. */
  others: number;
}

export class SealedTiles {
  readonly #app: App;
  readonly #organizationId: string;
  readonly #size: number;
  /** Tiles by their least id. */
  readonly #ranges: TileRange[];
  readonly #roots: Hash[] = [];
  #open: OpenTile[] = [];
  #next = 0;
  /** Number of hashes of deleted events. */
  deleted = 0;
  /** Number of hashes read. */
  read = 0;

  private constructor(app: App, organizationId: string, size: number, ranges: TileRange[]) {
    this.#app = app;
    this.#organizationId = organizationId;
    this.#size = size;
    this.#ranges = ranges.toSorted((a, b) => (a.first_id < b.first_id ? -1 : 1));
  }

  /** Reads the ranges of the tiles of a tree of this size, up to the first missing tile. */
  static async of(app: App, organizationId: string, size: number): Promise<SealedTiles> {
    const ranges: TileRange[] = [];
    for (let isMore = true; isMore; ) {
      const after = ranges.length - 1;
      const some = await selectTileRanges(app.store.db, organizationId, after, rangesAtOnce);
      const next = some.filter(
        ({ number }, at) => number === after + 1 + at && number * tileSize < size,
      );
      ranges.push(...next);
      isMore = next.length === rangesAtOnce;
    }
    return new SealedTiles(app, organizationId, size, ranges);
  }

  /** Index of the first missing hash; null if no hash is missing. */
  get missingFrom(): number | null {
    const from = this.#ranges.length * tileSize;
    return from < this.#size ? from : null;
  }

  /**
   * Reads the tiles that may have this event or earlier events, and ends the tiles that can have
   * only earlier events.
   */
  async moveTo(id: string): Promise<void> {
    for (let range = this.#ranges[this.#next]; range && range.first_id <= id; ) {
      await this.#read(range);
      this.#next += 1;
      range = this.#ranges[this.#next];
    }
    this.#end(this.#open.filter(({ lastId }) => `${lastId}~` < id));
  }

  /**
   * Removes the hash of an event from the tiles in memory. Returns false if none of them has it.
   */
  take(hash: Hash): boolean {
    return this.#open.some(({ left }) => left.delete(hash));
  }

  /**
   * Counts an event that was changed since the seal, in the tile in memory with the lowest last id.
   */
  countOther(): void {
    const [first] = this.#open.toSorted((a, b) => (a.lastId < b.lastId ? -1 : 1));
    if (first) first.others += 1;
  }

  /** Reads the remaining tiles, and ends all tiles. Returns the root of the tree. */
  async end(): Promise<Hash> {
    for (const range of this.#ranges.slice(this.#next)) await this.#read(range);
    this.#end(this.#open);
    return rootOver(this.#roots);
  }

  async #read({ number, last_id: lastId }: TileRange): Promise<void> {
    const place = { level: 0, number };
    const tile = await findTile(this.#app.store.db, this.#organizationId, place);
    // The tile may have grown since the tree was read.
    const hashes = hashesOf(tile?.hashes ?? new Uint8Array());
    const own = hashes.slice(0, this.#size - number * tileSize);
    this.#roots[number] = rootOver(own);
    this.read += own.length;
    this.#open.push({ lastId, left: new Set(own), others: 0 });
  }

  #end(tiles: readonly OpenTile[]): void {
    if (tiles.length === 0) return;
    for (const { left, others } of tiles) this.deleted += Math.max(0, left.size - others);
    this.#open = this.#open.filter((tile) => !tiles.includes(tile));
  }
}
