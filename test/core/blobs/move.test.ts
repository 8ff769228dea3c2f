// `svc storage move` between the three drivers, while mail is sent.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { placeOf } from '../../../src/core/blobs/blobs.ts';
import { moveBlobs, type StorageDriver } from '../../../src/core/blobs/move.ts';
import { countBlobs, countObjectsElsewhere } from '../../../src/core/blobs/queries.ts';
import type { ConfigInput } from '../../../src/core/config/config.ts';
import { readAttachment } from '../../../src/outbound/sending/stored-parts.ts';
import { bothStores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type S3Server, s3Server, testBucket } from '../../support/s3-server.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const inlineBytes = 2_000;
const fileOf = (index: number) => Buffer.alloc(3_000, `file ${index} `);
const nobody = () => {};

let server: S3Server;
let test: TestApp;
beforeAll(async () => {
  server = await s3Server();
});
afterAll(() => server.close());

const settings = (driver: StorageDriver, encrypt = false): ConfigInput => ({
  storage: { driver, inlineBytes, encrypt, s3: { ...testBucket, endpoint: server.endpoint } },
});

describe.each(bothStores)('svc storage move on %s', (store) => {
  const ids: string[] = [];
  beforeEach(async () => {
    server.heal();
    server.objects.clear();
    ids.length = 0;
    test = await testApp({ store, config: settings('database', true) });
  });
  afterEach(() => test.close());

  async function sendOne(): Promise<void> {
    const content = fileOf(ids.length).toString('base64');
    const email = { subject: `mail ${ids.length}`, attachments: [{ filename: 'a', content }] };
    ids.push((await send(test.app, test.caller, 'ann@example.com', { email })).id);
  }

  async function expectAll(): Promise<void> {
    for (const [index, id] of ids.entries()) {
      const read = await readAttachment(test.app, test.caller, id, 1);
      expect(read.equals(fileOf(index)), `mail ${index}`).toBe(true);
    }
  }

  async function left(app: App, to: StorageDriver): Promise<number> {
    const { inside, outside } = await countBlobs(app.store.db, inlineBytes);
    return to === 'database' ? outside : inside + (await countObjectsElsewhere(app.store.db, to));
  }

  it('takes files through all three, and each can be read at each moment', async () => {
    for (let n = 0; n < 12; n++) await sendOne();
    const ways: StorageDriver[] = ['filesystem', 's3', 'database', 's3', 'filesystem', 'database'];
    for (const to of ways) {
      let isOver = false;
      const beside = (async () => {
        while (!isOver) {
          await sendOne();
          await expectAll();
        }
      })();
      const moved = await moveBlobs(test.app, to, nobody);
      isOver = true;
      await beside;
      expect(moved.files, to).toBeGreaterThanOrEqual(12);
      expect(moved.bytes, to).toBe(moved.files * 3_000);
      // The configuration sends new files into the database: a second move takes those that came
      // meanwhile.
      await moveBlobs(test.app, to, nobody);
      expect(await left(test.app, to), to).toBe(0);
      await expectAll();
    }
    for (const object of server.objects.values()) {
      expect(object.includes('file 1 file 1')).toBe(false);
    }
  });

  it('continues where it was after a bucket failed', async () => {
    for (let n = 0; n < 6; n++) await sendOne();
    const stop = new Error('stop');
    const halfway = moveBlobs(test.app, 's3', (done) => {
      if (done === 3) throw stop;
    });
    await expect(halfway).rejects.toBe(stop);
    expect(await left(test.app, 's3')).toBe(3);
    server.fail('PUT', { kind: 'status', status: 403, code: 'AccessDenied' });
    await expect(moveBlobs(test.app, 's3', nobody)).rejects.toMatchObject({ status: 503 });
    expect(await left(test.app, 's3')).toBe(3);
    await expectAll();
    expect(await moveBlobs(test.app, 's3', nobody)).toEqual({ files: 3, bytes: 9_000 });
    await expectAll();
  });

  it('a file that moves away while it is read is read in its new place', async () => {
    for (let n = 0; n < 2; n++) await sendOne();
    await moveBlobs(test.app, 's3', nobody);
    for (const to of ['filesystem', 'database'] as const) {
      const move = async () => {
        await moveBlobs(test.app, to, nobody);
        server.objects.clear();
      };
      server.fail('GET', { kind: 'meanwhile', run: move });
      await expectAll();
      await moveBlobs(test.app, 's3', nobody);
    }
  });

  it('loses nothing to another move to the same place', async () => {
    for (let n = 0; n < 3; n++) await sendOne();
    await moveBlobs(test.app, 'filesystem', nobody);
    const other = await test.another();
    server.fail('PUT', { kind: 'meanwhile', run: () => moveBlobs(other, 's3', nobody) });
    await moveBlobs(test.app, 's3', nobody);
    expect(await left(test.app, 's3')).toBe(0);
    expect(server.objects.size).toBe(3);
    await expectAll();
  });

  /**
   * Runs `meanwhile` when a move of the app has named the new place of a file, and would remove its
   * copy here.
   */
  async function beforeRemoval(app: App, meanwhile: (key: string) => Promise<unknown>) {
    const folder = await placeOf(app, 'filesystem');
    const remove = folder.remove.bind(folder);
    folder.remove = async (key) => {
      folder.remove = remove;
      await meanwhile(key);
      await remove(key);
    };
  }

  it('loses nothing to a move back that ended before the old copy was removed', async () => {
    for (let n = 0; n < 3; n++) await sendOne();
    await moveBlobs(test.app, 'filesystem', nobody);
    const other = await test.another();
    let isBack = false;
    await beforeRemoval(test.app, async () => {
      isBack = (await moveBlobs(other, 'filesystem', nobody)).files === 1;
    });
    await moveBlobs(test.app, 's3', nobody);
    expect(isBack).toBe(true);
    await expectAll();
  });

  it('loses nothing to a move back that has written the file, and not yet named it', async () => {
    for (let n = 0; n < 3; n++) await sendOne();
    await moveBlobs(test.app, 'filesystem', nobody);
    const other = await test.another();
    const written = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const back = await placeOf(other, 'filesystem');
    const put = back.put.bind(back);
    back.put = async (key, bytes) => {
      back.put = put;
      await put(key, bytes);
      written.resolve();
      await ended.promise;
    };
    let moveBack: Promise<unknown> = Promise.resolve();
    await beforeRemoval(test.app, async () => {
      moveBack = moveBlobs(other, 'filesystem', nobody);
      await written.promise;
    });
    await moveBlobs(test.app, 's3', nobody);
    ended.resolve();
    await moveBack;
    expect(await left(test.app, 'filesystem')).toBe(0);
    await expectAll();
  });

  it('tells how far it is', async () => {
    for (let n = 0; n < 3; n++) await sendOne();
    const told: [number, number][] = [];
    await moveBlobs(test.app, 'filesystem', (done, total) => told.push([done, total]));
    expect(told).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });
});
