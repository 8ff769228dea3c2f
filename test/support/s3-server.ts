// An S3 service on loopback for tests, with a single bucket in memory. It checks each signature
// (AWS Signature Version 4) by the rules of AWS, independently of our code, and fails on demand.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const testBucket = {
  bucket: 'mail',
  region: 'test-1',
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 'a secret/with+signs',
} as const;

/** A fault that replaces the answer to a request. */
export type S3Fault =
  | { kind: 'status'; status: number; code: string }
  /** Answers 200 with the body of an error. */
  | { kind: 'error in 200' }
  /** Accepts an upload, but stores it without the end. */
  | { kind: 'truncated upload' }
  /** Sends less than Content-Length says. */
  | { kind: 'truncated download' }
  /** Sends changed bytes of the same length. */
  | { kind: 'changed download' }
  /** Sends more bytes than the object has. */
  | { kind: 'longer download' }
  /** Answers as usual after this function has ended. */
  | { kind: 'meanwhile'; run: () => Promise<unknown> }
  /** Never answers. */
  | { kind: 'silence' }
  | { kind: 'cut' };

export interface S3Server {
  endpoint: string;
  objects: Map<string, Buffer>;
  /** Method and kind of each request, such as `PUT part`. */
  requests: string[];
  /** Makes the next `times` requests of a method fail. */
  fail(method: string, fault: S3Fault, times?: number): void;
  /** Ends all faults. */
  heal(): void;
  close(): Promise<void>;
}

const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const mac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Returns the reason why a signature is invalid; null if it is valid. */
function signatureFault(
  { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: Buffer,
): string | null {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!match) return 'AuthorizationHeaderMalformed';
  const [, keyId = '', day = '', region = '', signed = '', signature = ''] = match;
  if (keyId !== testBucket.accessKeyId) return 'InvalidAccessKeyId';
  if (region !== testBucket.region) return 'AuthorizationHeaderMalformed';
  const names = signed.split(';');
  if (!names.includes('host')) return 'AccessDenied';
  // Header fields with several lines are joined (RFC 9110); S3 requires a signature of each x-amz-*
  // field.
  const unsigned = Object.keys(headers).filter((n) => n.startsWith('x-amz-') && !names.includes(n));
  if (unsigned.length > 0) return 'AccessDenied';
  const bodyHash = String(headers['x-amz-content-sha256']);
  if (bodyHash !== 'UNSIGNED-PAYLOAD' && bodyHash !== hash(body))
    return 'XAmzContentSHA256Mismatch';
  const time = String(headers['x-amz-date']);
  const at = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - at) < 15 * 60_000)) return 'RequestTimeTooSkewed';
  const { pathname, searchParams } = new URL(url, 'http://host');
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('&');
  const fields = names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');
  const request = [method, pathname, query, fields, signed, bodyHash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, hash(request)].join('\n');
  const steps = [day, region, 's3', 'aws4_request'];
  const key = steps.reduce<string | Buffer>(mac, `AWS4${testBucket.secretAccessKey}`);
  return timingSafeEqual(mac(key, text), Buffer.from(signature, 'hex'))
    ? null
    : 'SignatureDoesNotMatch';
}

/** Starts a service on a free port of 127.0.0.1. */
export async function s3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const requests: string[] = [];
  const faults = new Map<string, { fault: S3Fault; times: number }>();

  const takeFault = (method: string) => {
    const planned = faults.get(method);
    if (!planned) return undefined;
    planned.times -= 1;
    if (planned.times === 0) faults.delete(method);
    return planned.fault;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse, body: Buffer) => {
    const { method = '' } = request;
    const url = new URL(request.url ?? '', 'http://host');
    const query = url.searchParams;
    const isPart = query.has('partNumber');
    const isUpload = query.has('uploads') || query.has('uploadId');
    requests.push(isPart ? `${method} part` : isUpload ? `${method} upload` : method);
    const refuse = (status: number, code: string) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
    };
    const fault = takeFault(method);
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'meanwhile') await fault.run();
    if (fault?.kind === 'cut') return void request.socket.destroy();
    const wrong = signatureFault(request, body);
    if (wrong) return refuse(403, wrong);
    if (fault?.kind === 'status') return refuse(fault.status, fault.code);
    if (fault?.kind === 'error in 200') return refuse(200, 'InternalError');
    const isInHost = request.headers.host?.startsWith(`${testBucket.bucket}.`);
    const prefix = isInHost ? '/' : `/${testBucket.bucket}/`;
    if (!url.pathname.startsWith(prefix)) return refuse(404, 'NoSuchBucket');
    const key = decodeURIComponent(url.pathname.slice(prefix.length));
    const xml = (text: string) => {
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?>${text}`);
    };
    const uploadId = query.get('uploadId') ?? '';
    const parts = uploads.get(uploadId);
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${uploads.size}`;
      uploads.set(id, new Map());
      return xml(
        `<InitiateMultipartUploadResult><Bucket>${testBucket.bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (isUpload && !parts) return refuse(404, 'NoSuchUpload');
    const stored = fault?.kind === 'truncated upload' ? body.subarray(0, body.length >> 1) : body;
    const etag = `"${createHash('md5').update(stored).digest('hex')}"`;
    if (isPart) {
      parts?.set(Number(query.get('partNumber')), stored);
      return void response.writeHead(200, { etag }).end();
    }
    if (method === 'POST') {
      const sorted = [...(parts ?? [])].sort(([a], [b]) => a - b).map(([, part]) => part);
      objects.set(key, Buffer.concat(sorted));
      uploads.delete(uploadId);
      return xml(
        `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>${etag}</ETag></CompleteMultipartUploadResult>`,
      );
    }
    if (method === 'PUT') {
      objects.set(key, stored);
      return void response.writeHead(200, { etag }).end();
    }
    if (method === 'DELETE') {
      if (isUpload) uploads.delete(uploadId);
      else objects.delete(key);
      return void response.writeHead(204).end();
    }
    const object = objects.get(key);
    if (!object) return refuse(404, 'NoSuchKey');
    if (method === 'HEAD') {
      return void response.writeHead(200, { 'content-length': object.length, etag }).end();
    }
    send(response, object, fault);
  };

  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece);
      await answer(request, response, Buffer.concat(pieces));
    } catch {
      // The client has disconnected.
      request.socket.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    ...{ objects, requests },
    fail: (method, fault, times = 1) => void faults.set(method, { fault, times }),
    heal: () => faults.clear(),
    async close() {
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await ended;
    },
  };
}

function send(response: ServerResponse, object: Buffer, fault: S3Fault | undefined): void {
  if (fault?.kind === 'truncated download') {
    response.writeHead(200, { 'content-length': object.length });
    response.write(object.subarray(0, object.length >> 1), () => response.socket?.destroy());
    return;
  }
  const changed = Buffer.from(object);
  if (fault?.kind === 'changed download') changed.writeUInt8(changed.readUInt8(0) ^ 1, 0);
  const sent =
    fault?.kind === 'longer download' ? Buffer.concat([object, Buffer.alloc(100_000)]) : changed;
  response.writeHead(200, { 'content-length': sent.length }).end(sent);
}
