// The places of objects, each by the same tests; then the faults of a bucket.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { filesystemPlace } from '../../../../src/core/blobs/filesystem.ts';
import { type BlobPlace, NoBlobError } from '../../../../src/core/blobs/place.ts';
import { type Bucket, s3Place } from '../../../../src/core/blobs/s3.ts';
import { type S3Fault, type S3Server, s3Server, testBucket } from '../../../support/s3-server.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const key = `org_1/${'ab'.repeat(32)}`;
const megabyte = 1_048_576;

let folder: string;
let server: S3Server;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-blobs-'));
  server = await s3Server();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => server.heal());

const bucket = (settings: Partial<Bucket> = {}): Bucket => ({
  ...{ ...testBucket, endpoint: server.endpoint, pathStyle: true },
  ...settings,
});

/** A clock that has passed each pause at once. */
const impatient = {
  ...virtualClock(0),
  after(_ms: number, run: () => void) {
    run();
    return () => {};
  },
};

/** Sends a request for `mail.127.0.0.1` to the server, as DNS would. */
const toServer: typeof fetch = (input, init) =>
  new Promise((resolve, reject) => {
    const { host, pathname, search } = new URL(String(input));
    const { port } = new URL(server.endpoint);
    const headers = { ...(init?.headers as Record<string, string>), host };
    const sent = httpRequest(
      { host: '127.0.0.1', port, path: pathname + search, method: init?.method ?? 'GET', headers },
      async (answer) => {
        const pieces: Buffer[] = [];
        for await (const piece of answer) pieces.push(piece);
        const status = answer.statusCode ?? 0;
        const given = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
        const body = status === 204 || init?.method === 'HEAD' ? null : Buffer.concat(pieces);
        resolve(new Response(body, { status, headers: given as [string, string][] }));
      },
    );
    sent.on('error', reject).end(init?.body as Buffer | undefined);
  });

const places: Record<string, () => BlobPlace> = {
  'a folder': () => filesystemPlace(join(folder, 'blobs')),
  'a bucket in the path': () => s3Place(bucket(), impatient),
  'a bucket in the host': () =>
    s3Place(bucket({ endpoint: 'http://s3.test', pathStyle: false }), impatient, toServer),
};

describe.each(Object.keys(places))('%s', (name) => {
  const place = () => places[name]?.() as BlobPlace;

  it('gives what was stored, and replaces it', async () => {
    await place().put(key, Buffer.from('first'));
    await place().put(key, Buffer.from('second'));
    expect((await place().get(key, 100)).toString()).toBe('second');
  });

  it('has nothing under another key, and after a removal', async () => {
    await place().put(key, Buffer.from('first'));
    expect(await place().has(key)).toBe(true);
    await place().remove(key);
    await place().remove(key);
    expect(await place().has(key)).toBe(false);
    await expect(place().get(key, 100)).rejects.toThrow(NoBlobError);
  });

  it('gives nothing above the expected length', async () => {
    await place().put(key, Buffer.alloc(101));
    await expect(place().get(key, 100)).rejects.toThrow(/more than the 100 bytes/);
  });

  it('keeps organizations apart', async () => {
    await place().put(key, Buffer.from('ours'));
    await expect(place().get(key.replace('org_1', 'org_2'), 100)).rejects.toThrow(NoBlobError);
  });

  it('stores 17 MB and the empty content', async () => {
    const large = Buffer.alloc(17 * megabyte, 'svc');
    await place().put(key, large);
    expect((await place().get(key, large.length)).equals(large)).toBe(true);
    await place().put(key, Buffer.alloc(0));
    expect(await place().get(key, 100)).toHaveLength(0);
  });
});

it('files are two levels below the root, for their owner only, without remains', async () => {
  const root = join(folder, 'own');
  const place = filesystemPlace(root);
  await Promise.all(Array.from({ length: 20 }, () => place.put(key, Buffer.from('same'))));
  const path = join(root, 'org_1', 'ab');
  expect(readdirSync(path)).toEqual(['ab'.repeat(32)]);
  expect(statSync(join(path, 'ab'.repeat(32))).mode & 0o777).toBe(0o600);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it('uploads above 16 MB go in parts', async () => {
  server.requests.length = 0;
  await s3Place(bucket(), impatient).put(key, Buffer.alloc(33 * megabyte));
  expect(server.requests).toEqual([
    ...['POST upload', 'PUT part', 'PUT part', 'PUT part', 'POST upload', 'HEAD'],
  ]);
});

describe('a bucket', () => {
  const stored = Buffer.from('the content of a mail');
  const put = () => s3Place(bucket(), impatient).put(key, stored);
  const get = () => s3Place(bucket(), impatient).get(key, stored.length);

  const passing: S3Fault[] = [
    { kind: 'status', status: 503, code: 'SlowDown' },
    { kind: 'status', status: 500, code: 'InternalError' },
    { kind: 'status', status: 429, code: 'TooManyRequests' },
    { kind: 'cut' },
  ];
  it.each(passing)('is tried three times: %j', async (fault) => {
    server.fail('PUT', fault, 2);
    await put();
    server.fail('GET', fault, 2);
    expect(await get()).toEqual(stored);
    server.fail('PUT', fault, 3);
    await expect(put()).rejects.toThrow(/^bucket mail at 127\.0\.0\.1:\d+: /);
  });

  it('that forbids is not tried again', async () => {
    server.requests.length = 0;
    server.fail('PUT', { kind: 'status', status: 403, code: 'AccessDenied' }, 3);
    await expect(put()).rejects.toThrow(/403 – AccessDenied/);
    expect(server.requests).toEqual(['PUT']);
  });

  const lies: S3Fault[] = [{ kind: 'error in 200' }, { kind: 'truncated upload' }];
  it.each(lies)('that answers 200 all the same is found out: %j', async (fault) => {
    await s3Place(bucket(), impatient).remove(key);
    server.fail('PUT', fault, 3);
    await expect(put()).rejects.toThrow(/^bucket mail/);
  });

  it('that sends less than its length says is an error', async () => {
    await put();
    server.fail('GET', { kind: 'truncated download' }, 3);
    await expect(get()).rejects.toThrow(/^bucket mail/);
  });

  it('that sends more than was stored is cut off', async () => {
    await put();
    server.fail('GET', { kind: 'longer download' }, 3);
    await expect(get()).rejects.toThrow(/more than the 21 bytes/);
  });

  const strangers: [string, Partial<Bucket>, RegExp][] = [
    ['another secret', { secretAccessKey: 'other' }, /SignatureDoesNotMatch/],
    ['another access key', { accessKeyId: 'AKIDOTHER' }, /InvalidAccessKeyId/],
    ['another region', { region: 'other-2' }, /AuthorizationHeaderMalformed/],
  ];
  it.each(strangers)('refuses %s', async (_name, settings, reason) => {
    const place = s3Place(bucket(settings), impatient);
    await expect(place.put(key, stored)).rejects.toThrow(reason);
  });

  it('that is missing refuses an upload', async () => {
    await put();
    const place = s3Place(bucket({ bucket: 'other' }), impatient);
    await expect(place.put(key, stored)).rejects.toThrow(/NoSuchBucket/);
  });

  it('takes the signatures of another signer, and no changed ones', async () => {
    const { accessKeyId, secretAccessKey, region } = testBucket;
    const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
    const url = `${server.endpoint}/mail/${key}?x=a%20b&prefix=1`;
    const signed = await client.sign(url, { method: 'PUT', body: 'signed elsewhere' });
    expect((await fetch(signed.clone())).status).toBe(200);
    const headers = new Headers(signed.headers);
    headers.set('x-amz-date', '20200101T000000Z');
    expect((await fetch(url, { method: 'PUT', body: 'signed elsewhere', headers })).status).toBe(
      403,
    );
    const changed = await fetch(url.replace('prefix=1', 'prefix=2'), {
      method: 'DELETE',
      headers: signed.headers,
    });
    expect(changed.status).toBe(403);
  });
});
