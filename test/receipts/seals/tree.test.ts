// The tree of the sealed log, against the vectors of certificate-transparency and a plain reference
// of RFC 9162.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Hash, leafHash } from '../../../src/history/events/leaf.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import {
  append,
  bytesOf,
  fromHex,
  hashesOf,
  pathInTree,
  type ReadTile,
  rootOfPath,
  rootOfTree,
  rootOver,
  tileSize,
  tilesOfProof,
  toHex,
} from '../../../src/receipts/tree.ts';

/** MTH of RFC 9162, 2.1.1, word for word. */
function reference(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return createHash('sha256').digest('binary');
  if (leaves.length === 1) return leaves[0] as Hash;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  const [left, right] = [reference(leaves.slice(0, k)), reference(leaves.slice(k))];
  const node = Buffer.from(`\u0001${left}${right}`, 'latin1');
  return createHash('sha256').update(node).digest('binary');
}

class Tiles {
  readonly #stored = new Map<string, readonly Hash[]>();
  size = 0;

  readonly read: ReadTile = ({ level, number }) => this.#stored.get(`${level} ${number}`) ?? [];

  add(leaves: readonly Hash[]): void {
    for (const { level, number, hashes } of append(this.size, leaves, this.read)) {
      expect(hashes.length).toBeLessThanOrEqual(tileSize);
      this.#stored.set(`${level} ${number}`, hashesOf(bytesOf(hashes)));
    }
    this.size += leaves.length;
  }

  root(): Hash {
    return rootOfTree(this.size, this.read);
  }

  path(index: number): Hash[] {
    const known = new Set(tilesOfProof(index, this.size).map((at) => `${at.level} ${at.number}`));
    return pathInTree(index, this.size, (place) => {
      expect(known).toContain(`${place.level} ${place.number}`);
      return this.read(place);
    });
  }
}

const leavesTo = (count: number) =>
  Array.from({ length: count }, (_, at) => leafHash(`leaf ${at}`));
const many = leavesTo(tileSize ** 2 + 2);

describe('the tree', () => {
  it('gives the roots of certificate-transparency', () => {
    const texts = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657'];
    const inputs = [...texts, '606162636465666768696a6b6c6d6e6f'];
    const leaves = inputs.map((hex) => leafHash(Buffer.from(hex, 'hex').toString('latin1')));
    const roots = leaves.map((_, at) => toHex(rootOver(leaves.slice(0, at + 1))));
    expect(roots).toEqual([
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
    expect(toHex(rootOver([]))).toBe(createHash('sha256').digest('hex'));
    expect(fromHex(roots[0] ?? '')).toBe(leaves[0]);
  });

  it('equals the reference however it grew, and proves each leaf', () => {
    const seed = Date.now() % 1_000_000;
    const random = seededRandom(seed);
    const upTo = (most: number) => ((random.bytes(1)[0] ?? 0) * most) >> 8;
    for (let round = 0; round < 20; round += 1) {
      const tiles = new Tiles();
      while (tiles.size < 1_200) {
        tiles.add(many.slice(tiles.size, tiles.size + 1 + upTo(300)));
        const leaves = many.slice(0, tiles.size);
        const root = tiles.root();
        expect(toHex(root), `seed ${seed}`).toBe(toHex(reference(leaves)));
        const index = (upTo(256) * tiles.size) >> 8;
        const path = tiles.path(index);
        expect(rootOfPath(leaves[index] as Hash, index, tiles.size, path), `seed ${seed}`).toBe(
          root,
        );
      }
    }
  });

  it.each([0, 1, 2, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537])(
    'equals the reference with %i leaves',
    (size) => {
      const tiles = new Tiles();
      for (let at = 0; at < size; at += 4_000)
        tiles.add(many.slice(at, Math.min(size, at + 4_000)));
      expect(toHex(tiles.root())).toBe(toHex(reference(many.slice(0, size))));
      for (const index of [0, 1, 255, 256, size - 2, size - 1]) {
        if (index < 0 || index >= size) continue;
        const leaf = many[index] as Hash;
        expect(rootOfPath(leaf, index, size, tiles.path(index))).toBe(tiles.root());
      }
    },
  );

  it('takes a path for no other leaf, place, size or length', () => {
    for (const size of [1, 2, 3, 7, 8, 9, 300]) {
      const tiles = new Tiles();
      tiles.add(many.slice(0, size));
      const root = tiles.root();
      for (let index = 0; index < Math.min(size, 9); index += 1) {
        const path = tiles.path(index);
        const leaf = many[index] as Hash;
        for (let other = -1; other <= Math.min(size, 12); other += 1) {
          const found = rootOfPath(leaf, other, size, path);
          expect(found === root, `${index} of ${size} as ${other}`).toBe(other === index);
        }
        expect(rootOfPath(leafHash('another'), index, size, path)).not.toBe(root);
        expect(rootOfPath(leaf, index, size, path.slice(1)) === root).toBe(size === 1);
        expect(rootOfPath(leaf, index, size, path.slice(0, -1)) === root).toBe(size === 1);
        expect(rootOfPath(leaf, index, size, [...path, root])).not.toBe(root);
        expect(rootOfPath(leaf, index + 0.5, size, path)).toBeNull();
      }
    }
  });
});
