// The sweep of objects against a model: whatever is sent, deleted, left half-done and swept in any
// order, each message has its file, and an object without a blob goes a day after a sweep found it.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertBlobs, storeObject } from '../../../src/core/blobs/blobs.ts';
import { beginRemoval } from '../../../src/core/blobs/queries.ts';
import { sweepObjects, unusedForMs } from '../../../src/core/blobs/sweep.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { cancelMessage } from '../../../src/outbound/queue/schedule/cancel.ts';
import { readAttachment } from '../../../src/outbound/sending/stored-parts.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { type S3Server, s3Server, testBucket } from '../../support/s3-server.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const never = new AbortController().signal;
const hourMs = 3_600_000;
const files = Array.from({ length: 4 }, (_, index) => Buffer.alloc(3_000, `file ${index} `));
const keyOf = (organizationId: string, file: Buffer) =>
  `${organizationId}/${createHash('sha256').update(file).digest('hex')}`;

let server: S3Server;
let test: TestApp;
beforeAll(async () => {
  server = await s3Server();
});
afterAll(() => server.close());

describe.each(stores)('the sweep on %s', (store) => {
  beforeEach(async () => {
    server.objects.clear();
    const s3 = { ...testBucket, endpoint: server.endpoint };
    const storage = { driver: 's3', inlineBytes: 2_000, s3 } as const;
    test = await testApp({ store, config: { storage } });
  });
  afterEach(() => test.close());

  it.each([1, 2, 3])('keeps what is used and removes what is not (seed %i)', async (seed) => {
    const { app, caller, clock } = test;
    const random = seededRandom(seed);
    const pick = (count: number) => Math.floor(random.float() * count);
    const messages: { id: string; file: number }[] = [];
    /** Time at which a sweep or a want dated an object; null while it is used. */
    const dated = new Map<number, number | null>();
    const isUsed = (file: number) => messages.some((one) => one.file === file);

    const steps: (() => Promise<unknown>)[] = [
      async () => {
        const file = pick(files.length);
        const content = (files[file] as Buffer).toString('base64');
        const email = { subject: `${messages.length}`, attachments: [{ filename: 'a', content }] };
        const { id } = await send(app, caller, 'ann@example.com', { email });
        messages.push({ id, file });
        dated.set(file, null);
      },
      async () => {
        const [gone] = messages.splice(pick(messages.length), 1);
        if (!gone) return;
        await cancelMessage(app, caller, gone.id);
        await deleteMessage(app, caller, gone.id);
      },
      // A request that dies after its upload.
      async () => {
        const file = pick(files.length);
        await storeObject(app, caller.organizationId, Buffer.from(files[file] as Buffer), 's3');
        if (dated.get(file) !== null) dated.set(file, clock.now());
      },
      () => clock.advance(pick(30) * hourMs),
      async () => {
        await sweepObjects(app, never);
        for (const [file, at] of dated) {
          if (isUsed(file)) dated.set(file, null);
          else if (at === null) dated.set(file, clock.now());
          else if (at < clock.now() - unusedForMs) dated.delete(file);
        }
      },
    ];
    for (let step = 0; step < 60; step++) {
      await steps[pick(steps.length)]?.();
      const expected = [...dated.keys()].map((file) =>
        keyOf(caller.organizationId, files[file] as Buffer),
      );
      expect(new Set(server.objects.keys()), `step ${step}`).toEqual(new Set(expected));
    }
    for (const { id, file } of messages) {
      expect(await readAttachment(app, caller, id, 1)).toEqual(files[file]);
    }
  });

  it('continues after a bucket that did not answer', async () => {
    const { app, caller, clock } = test;
    await storeObject(app, caller.organizationId, files[0] as Buffer, 's3');
    await clock.advance(unusedForMs + 1);
    server.fail('DELETE', { kind: 'status', status: 403, code: 'AccessDenied' });
    expect(await sweepObjects(app, never)).toBe(0);
    expect(server.objects.size).toBe(1);
    expect(await sweepObjects(app, never)).toBe(1);
    expect(server.objects.size).toBe(0);
  });

  it('takes a wrong date off an object that is used, and keeps it', async () => {
    const { app, caller, clock } = test;
    const file = files[0] as Buffer;
    const email = { attachments: [{ filename: 'a', content: file.toString('base64') }] };
    const { id } = await send(app, caller, 'ann@example.com', { email });
    // A sweep that looked just before the commit may date it.
    const dated = sql`update blob_objects set unused_at = ${clock.now()}`;
    await app.store.write((trx) => dated.execute(trx));
    await clock.advance(unusedForMs + 1);
    expect(await sweepObjects(app, never)).toBe(0);
    expect(await readAttachment(app, caller, id, 1)).toEqual(file);
    const { rows } = await sql`select unused_at, state from blob_objects`.execute(app.store.db);
    expect(rows).toEqual([{ unused_at: null, state: 'stored' }]);
  });

  it('an object that is being removed is not used: its content stays in the row', async () => {
    const { app, caller, clock } = test;
    const file = files[0] as Buffer;
    const key = await storeObject(app, caller.organizationId, file, 's3');
    await clock.advance(unusedForMs + 1);
    await app.store.write((trx) => beginRemoval(trx, key ?? '', clock.now()));
    const email = { attachments: [{ filename: 'a', content: file.toString('base64') }] };
    const { id } = await send(app, caller, 'ann@example.com', { email });
    await sweepObjects(app, never);
    expect(server.objects.size).toBe(0);
    expect(await readAttachment(app, caller, id, 1)).toEqual(file);
  });

  it('refuses a blob with an object whose removal began after it was stored', async () => {
    const { app, caller, clock } = test;
    const key = await storeObject(app, caller.organizationId, files[0] as Buffer, 's3');
    await clock.advance(unusedForMs + 1);
    await app.store.write((trx) => beginRemoval(trx, key ?? '', clock.now()));
    const row = {
      ...{ id: 'blb_x', organization_id: caller.organizationId, size: 3_000 },
      ...{ data: Buffer.alloc(0), object_key: key, created_at: 0 },
    };
    const written = app.store.write((trx) => insertBlobs(trx, [row]));
    await expect(written).rejects.toThrow(CapacityError);
  });
});
