// Large files outside the database: each driver, plain and encrypted, on both engines.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readBlob } from '../../../src/core/blobs/blobs.ts';
import { sweepObjects, unusedForMs } from '../../../src/core/blobs/sweep.ts';
import { deleteMessage, getMessage } from '../../../src/outbound/messages/messages.ts';
import { findMessageRow } from '../../../src/outbound/messages/queries.ts';
import { cancelMessage } from '../../../src/outbound/queue/schedule/cancel.ts';
import { sendBatch } from '../../../src/outbound/sending/batch.ts';
import { handIn } from '../../../src/outbound/sending/hand-in/hand-in.ts';
import { readAttachment, readRawMail } from '../../../src/outbound/sending/stored-parts.ts';
import { CapacityError, ExternalServiceError } from '../../../src/platform/errors.ts';
import {
  addMailbox,
  data,
  deliver,
  envelope,
  idIn,
  type SmtpService,
  smtpService,
  stored,
} from '../../listener/smtp-service.ts';
import { stores } from '../../support/command.ts';
import { payloadFor, send, startPipeline } from '../../support/delivery.ts';
import { type S3Server, s3Server, testBucket } from '../../support/s3-server.ts';

const inlineBytes = 2_000;
const file = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 253));
const small = Buffer.from('a small file');
const never = new AbortController().signal;

const kinds = [
  { driver: 'filesystem', encrypt: false },
  { driver: 's3', encrypt: false },
  { driver: 'filesystem', encrypt: true },
  { driver: 's3', encrypt: true },
] as const;

let server: S3Server;
beforeAll(async () => {
  server = await s3Server();
});
afterAll(() => server.close());

const attached = (...files: Buffer[]) => ({
  email: {
    attachments: files.map((content, index) => ({
      filename: `file-${index}.bin`,
      content: content.toString('base64'),
    })),
  },
});

describe.each(stores)('on %s', (store) => {
  describe.each(kinds)('$driver, encrypt: $encrypt', ({ driver, encrypt }) => {
    let service: SmtpService;
    beforeEach(async () => {
      server.heal();
      server.objects.clear();
      const { endpoint } = server;
      const s3 = { ...testBucket, endpoint };
      service = await smtpService({
        store,
        config: { storage: { driver, inlineBytes, encrypt, s3 } },
      });
    });
    afterEach(() => service.close());

    /** The objects as they lie in their place, by key. */
    function objects(): Map<string, Buffer> {
      if (driver === 's3') return server.objects;
      const root = join(service.app.config.dataDir, 'blobs');
      const found = new Map<string, Buffer>();
      for (const entry of readdirSync(root, {
        recursive: true,
        withFileTypes: true,
      })) {
        if (!entry.isFile()) continue;
        const { name, parentPath } = entry;
        const organizationId = parentPath.slice(root.length + 1).split('/')[0];
        found.set(`${organizationId}/${name}`, readFileSync(join(parentPath, name)));
      }
      return found;
    }

    const sendFiles = (...files: Buffer[]) =>
      send(service.app, service.caller, 'ann@example.com', attached(...files));

    const rows = async () =>
      (
        await sql<{
          size: number;
          inside: number;
          object_key: string | null;
        }>`select size, octet_length(data) as inside, object_key from blobs order by size`.execute(
          service.app.store.db,
        )
      ).rows;

    it('has large files outside, small ones inside, and gives both', async () => {
      const { id } = await sendFiles(small, file);
      expect(await rows()).toMatchObject([
        { size: small.length, inside: small.length, object_key: null },
        { size: file.length, inside: 0 },
      ]);
      const [[key, bytes] = []] = [...objects()];
      expect(key).toMatch(new RegExp(`^${service.caller.organizationId}/[0-9a-f]{64}$`));
      expect(bytes?.equals(file)).toBe(!encrypt);
      if (encrypt) expect(bytes?.includes(file.subarray(0, 64))).toBe(false);
      const { app, caller } = service;
      expect(await readAttachment(app, caller, id, 1)).toEqual(small);
      expect((await readAttachment(app, caller, id, 2)).equals(file)).toBe(true);
    });

    it('shares equal files of an organization, in messages and in batches', async () => {
      await sendFiles(file, file);
      await send(service.app, service.caller, 'bob@example.com', {
        email: { ...attached(file).email, subject: 'Other' },
      });
      await sendBatch(
        service.app,
        service.caller,
        [1, 2].map((n) => payloadFor(`c${n}@example.com`, attached(file))),
        null,
      );
      expect((await rows()).every(({ inside }) => inside === 0)).toBe(true);
      expect(objects().size).toBe(1);
    });

    it('delivers the file', async () => {
      const pipeline = await startPipeline(service.app, { localPort: service.port });
      await addMailbox(service.app, service.caller, 'inbox@sandbox.test').catch(() => {});
      const { id } = await send(service.app, service.caller, 'inbox@sandbox.test', attached(file));
      await expect
        .poll(
          async () => {
            await service.clock.advance(1_000);
            return (await getMessage(service.app, service.caller, id)).status;
          },
          { timeout: 15_000 },
        )
        .toBe('delivered');
      await pipeline.close();
      const raw = await readRawMail(service.app, service.caller, id);
      const encoded = file.toString('base64').slice(0, 60);
      expect(raw.body.includes(encoded)).toBe(true);
    });

    it('stores a received mail once for all mailboxes, each with its own trace', async () => {
      const { app, caller } = service;
      await addMailbox(app, caller, 'one@sandbox.test');
      await addMailbox(app, caller, 'two@sandbox.test');
      const mail = `Subject: large\r\n\r\n${'a line of text\r\n'.repeat(500)}`;
      const dialogue = await service.session();
      expect(await deliver(dialogue, ['one@sandbox.test', 'two@sandbox.test'], mail)).toMatch(
        /^250/,
      );
      const found = await rows();
      expect(found).toHaveLength(2);
      expect(new Set(found.map(({ object_key }) => object_key)).size).toBe(1);
      expect(found.every(({ inside }) => inside > 0 && inside < 500)).toBe(true);
      const id = idIn(await deliver(dialogue, 'one@sandbox.test', mail));
      const { raw, received } = await stored(app, id);
      expect(raw.toString()).toBe(mail);
      expect(received).toMatch(/^Received: from /);
      expect(objects().size).toBe(1);
    });

    it('removes a file a day after its last message', async () => {
      const { app, caller, clock } = service;
      const [one, two] = [await sendFiles(file), await sendFiles(file, small)];
      const removeOne = async (id: string) => {
        await cancelMessage(app, caller, id).catch(() => {});
        await deleteMessage(app, caller, id);
      };
      await removeOne(one.id);
      await sweepObjects(app, never);
      await clock.advance(unusedForMs + 1);
      expect(await sweepObjects(app, never)).toBe(0);
      await removeOne(two.id);
      expect(await sweepObjects(app, never)).toBe(0);
      await clock.advance(unusedForMs - 1);
      expect(await sweepObjects(app, never)).toBe(0);
      expect(objects().size).toBe(1);
      await clock.advance(2);
      expect(await sweepObjects(app, never)).toBe(1);
      expect(objects().size).toBe(0);
      const again = await sendFiles(file);
      expect((await readAttachment(app, caller, again.id, 1)).equals(file)).toBe(true);
    });

    it('reads nothing that was changed', async () => {
      const { app, caller } = service;
      const { id } = await sendFiles(file);
      const [[key = '', bytes = small] = []] = [...objects()];
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(50) ^ 1, 50);
      if (driver === 's3') server.objects.set(key, changed);
      else {
        const [organizationId = '', digest = ''] = key.split('/');
        const folder = join(app.config.dataDir, 'blobs', organizationId, digest.slice(0, 2));
        writeFileSync(join(folder, digest), changed);
      }
      const read = readAttachment(app, caller, id, 1);
      await expect(read).rejects.toThrow(ExternalServiceError);
      await expect(read).rejects.toMatchObject({ status: 502, provider: 'storage' });
    });
  });

  it('a bucket that forbids: small mail continues, large is refused, and nothing of it is stored', async () => {
    server.heal();
    const s3 = { ...testBucket, endpoint: server.endpoint };
    const service = await smtpService({
      store,
      config: { storage: { driver: 's3', inlineBytes, s3 } },
    });
    const { app, caller } = service;
    try {
      await addMailbox(app, caller, 'one@sandbox.test');
      const before = await send(app, caller, 'ann@example.com', attached(file));
      const forbid = (method: string) =>
        server.fail(method, { kind: 'status', status: 403, code: 'AccessDenied' }, 1_000);
      forbid('PUT');
      const other = Buffer.concat([file, small]);
      const refused = send(app, caller, 'ann@example.com', attached(other));
      await expect(refused).rejects.toThrow(CapacityError);
      await expect(refused).rejects.toMatchObject({ status: 503, reason: 'capacity-storage' });
      await expect(
        sendBatch(app, caller, [payloadFor('ann@example.com', attached(other))], null),
      ).rejects.toThrow(CapacityError);
      expect((await send(app, caller, 'ann@example.com', attached(small))).id).toBeTruthy();
      const dialogue = await service.session();
      const large = `Subject: large\r\n\r\n${'another line of text\r\n'.repeat(500)}`;
      expect(await deliver(dialogue, 'one@sandbox.test', large)).toMatch(/^451 4\.3\./);
      await envelope(dialogue, 'one@sandbox.test');
      expect(await data(dialogue, 'Subject: small\r\n\r\nhello\r\n')).toMatch(/^250/);
      forbid('GET');
      await expect(readAttachment(app, caller, before.id, 1)).rejects.toThrow(ExternalServiceError);
      server.heal();
      expect((await readAttachment(app, caller, before.id, 1)).equals(file)).toBe(true);
      expect((await send(app, caller, 'ann@example.com', attached(other))).id).toBeTruthy();
    } finally {
      await service.close();
    }
  });

  it('a raw mail that is sent has its new fields inside and its body outside', async () => {
    const service = await smtpService({
      store,
      config: { storage: { driver: 'filesystem', inlineBytes } },
    });
    const { app, caller } = service;
    try {
      const { id } = await handIn(app, caller, {
        raw: Buffer.from(
          `From: svc@sandbox.test\r\nSubject: raw\r\n\r\n${'a line\r\n'.repeat(500)}`,
        ),
        recipients: ['ann@example.com'],
        ...{ allowsUtf8: true, bareDomain: null, via: 'smtp', user: null },
      });
      const row = await findMessageRow(app.store.db, id);
      const blob = await readBlob(app, row?.raw_blob_id ?? '');
      expect(blob?.toString()).toMatch(
        /^(?:.*\r\n)*Message-ID: [^\n]*\r\n(?:.*\r\n)*Subject: raw\r\n/,
      );
      expect(blob?.toString().endsWith(`\r\n\r\n${'a line\r\n'.repeat(500)}`)).toBe(true);
    } finally {
      await service.close();
    }
  });
});
