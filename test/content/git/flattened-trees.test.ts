// The work of a push: each tree of its commits is read and flattened once, in however many commits
// it stands.
import { deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PackedObject } from '../../../src/content/git/commit.ts';
import { readIncoming } from '../../../src/content/git/incoming.ts';
import * as objects from '../../../src/content/git/objects.ts';
import { eachApp } from '../../support/each-app.ts';
import { packOfObjects } from './packs.ts';

vi.mock('../../../src/content/git/objects.ts', async (original) => {
  const actual = await original<typeof objects>();
  return { ...actual, decodeTree: vi.fn(actual.decodeTree) };
});

const { encodeCommit, encodeTree, fileMode, folderMode, oidOf } = objects;
const by = { name: 'Ada', email: 'ada@example.com', seconds: 1_700_000_000, zone: '+0000' };

/** A pack in the making. */
class Push {
  readonly #objects = new Map<string, PackedObject>();
  tip: string | null = null;

  #add(type: PackedObject['type'], body: Buffer): string {
    const oid = oidOf(type, body);
    this.#objects.set(oid, { oid, type, size: body.length, content: deflateSync(body) });
    return oid;
  }

  file(name: string, text: string) {
    return { mode: fileMode, name, oid: this.#add('blob', Buffer.from(text)) };
  }

  folder(name: string, entries: readonly objects.TreeEntry[]) {
    return { mode: folderMode, name, oid: this.#add('tree', encodeTree(entries)) };
  }

  commit(entries: readonly objects.TreeEntry[], message: string): void {
    const { oid: tree } = this.folder('', entries);
    const parents = this.tip === null ? [] : [this.tip];
    const commit = { tree, parents, author: by, committer: by, message };
    this.tip = this.#add('commit', encodeCommit(commit));
  }

  get pack(): Buffer {
    return packOfObjects([...this.#objects.values()]);
  }
}

describe('a push', () => {
  const test = eachApp();
  beforeEach(() => {
    vi.mocked(objects.decodeTree).mockClear();
  });

  const read = ({ pack, tip }: Push) =>
    readIncoming(test.app.store.db, 'tmpl_1', { pack, tip: tip ?? '', head: '' });
  const flattened = () => vi.mocked(objects.decodeTree).mock.calls.length;
  /** Makes folders: one with a file, and `count` - 1 that are empty, so one tree. */
  const foldersOf = (push: Push, count: number) => [
    push.folder('full', [push.file('a.html', 'a')]),
    ...Array.from({ length: count - 1 }, (_, index) => push.folder(`empty-${index}`, [])),
  ];

  it('flattens one tree of 200 commits once', async () => {
    const push = new Push();
    const folders = foldersOf(push, 99);
    for (let count = 0; count < 200; count += 1) push.commit(folders, `commit ${count}`);
    const { commits, files } = await read(push);
    expect([commits.length, files]).toEqual([200, { 'full/a.html': 'a' }]);
    // The tree, its folder with a file, and the empty folder that stands in it 98 times.
    expect(flattened()).toBe(3);
  });

  it('flattens only the changed trees of commits that share their folders', async () => {
    const push = new Push();
    const shared = push.folder('shared', foldersOf(push, 99));
    for (let count = 0; count < 200; count += 1) {
      push.commit([shared, push.file('subject.txt', `${count}`)], `commit ${count}`);
    }
    const { files } = await read(push);
    expect(files).toEqual({ 'shared/full/a.html': 'a', 'subject.txt': '199' });
    expect(flattened()).toBe(200 + 3);
  });

  it('refuses more than 1,000 folders that are one tree', async () => {
    const push = new Push();
    push.commit([push.folder('all', foldersOf(push, 999))], 'too many');
    await expect(read(push)).rejects.toThrow('a template has at most 1000 folders');
  });

  it('refuses a path of more than 200 characters below a tree that stands elsewhere too', async () => {
    const push = new Push();
    const inner = [push.folder('b'.repeat(150), [])];
    const short = push.folder('a', inner);
    const long = push.folder('c'.repeat(60), inner);
    push.commit([short], 'short');
    push.commit([short, long], 'long');
    await expect(read(push)).rejects.toThrow('a path has at most 200 characters');
  });
});
