// Anchors of signed heads: lines of the log, or posts to `receipts.webhook`; and the keys that
// check them.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Anchor, anchorHeads } from '../../src/receipts/anchors.ts';
import { isSignedBy } from '../../src/receipts/head.ts';
import { createSealer } from '../../src/receipts/sealer.ts';
import { recordSteps } from '../receipts/seals/log.ts';
import { httpApi } from '../support/http-client.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const hourMs = 3_600_000;
const perPost = 500;

describe('anchored heads', () => {
  let test: TestApp;
  let receiver: Server;
  let lines: Record<string, unknown>[];
  let bodies: { type: string; heads: Anchor[] }[];
  let status: number;

  beforeEach(async () => {
    lines = [];
    bodies = [];
    status = 204;
    receiver = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      request.on('end', () => {
        bodies.push(JSON.parse(text));
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await test.close();
    await new Promise((resolve) => receiver.close(resolve));
  });

  async function start(hasWebhook: boolean): Promise<void> {
    const { port } = receiver.address() as AddressInfo;
    const webhook = hasWebhook ? `http://127.0.0.1:${port}/heads` : null;
    const log = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    test = await testApp({ config: { receipts: { webhook } }, log });
  }

  const sealAll = () => createSealer(test.app).sweep();

  it('are lines of the log without a webhook, each signed by the published key', async () => {
    await start(false);
    await sealAll();
    await anchorHeads(test.app);
    const heads = lines.filter(({ msg }) => msg === 'signed head of the sealed log');
    expect(heads).toHaveLength(1);
    const [head] = heads as unknown as Anchor[];
    const { organizationId } = test.caller;
    expect(head).toMatchObject({ organizationId });
    const api = httpApi(test);
    const { body } = await api.get<{ keys: { keyId: string; publicKey: string }[] }>(
      '/.well-known/svc-receipts.json',
      { apiKey: null },
    );
    await api.close();
    const key = body.keys.find(({ keyId }) => keyId === head?.keyId);
    expect(head && isSignedBy(organizationId, head, key?.publicKey ?? '')).toBe(true);
  });

  it('are posted, 500 at a time, once their organizations changed in the last day', async () => {
    await start(true);
    await test.app.store.write(async (trx) => {
      for (let at = 0; at < perPost; at += 1)
        await recordSteps(test.app, trx, `org_${at}`, ['msg_1']);
    });
    await sealAll();
    await anchorHeads(test.app);
    const counts = bodies.map(({ heads }) => heads.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(perPost);
    expect(counts[0]).toBe(perPost);
    const ids = bodies.flatMap(({ heads }) => heads.map(({ organizationId }) => organizationId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(bodies[0]?.type).toBe('receipts.heads');
    await test.clock.advance(26 * hourMs);
    bodies = [];
    await anchorHeads(test.app);
    expect(bodies).toEqual([]);
  });

  it('are an error of the job while the webhook refuses them', async () => {
    await start(true);
    await sealAll();
    status = 500;
    await expect(anchorHeads(test.app)).rejects.toThrow(
      'receipts.webhook did not take the heads: it answered 500',
    );
  });
});
