// Streams and webhooks of the client, by `node --test`: also on Node 20, without any package.
// test/client/client.test.ts runs it on the Node of the tests.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifyWebhook } from '../../client/index.js';
import { EventParser } from '../../client/stream.js';
import { json, refused, serverOf } from './plain-server.mjs';

test('reads a stream of events however it is cut into pieces', () => {
  const text =
    ': hi\r\n\r\nid: e1\ndata: {"a":\ndata: 1}\n\nid: e2\r\ndata:{"b":2}\r\n\r\nevent: x\rid: e3\rdata: "é"\r\r\n';
  const whole = new EventParser().push(text);
  assert.deepEqual(
    whole.map(({ id }) => id),
    ['e1', 'e2', 'e3'],
  );
  for (let at = 0; at <= text.length; at++) {
    const parser = new EventParser();
    assert.deepEqual(
      [...parser.push(text.slice(0, at)), ...parser.push(text.slice(at))],
      whole,
      `at ${at}`,
    );
  }
  const parser = new EventParser();
  assert.deepEqual(
    [...text].flatMap((one) => parser.push(one)),
    whole,
  );
});

test('goes on after a cut at each byte: no event is lost or given twice', async () => {
  const events = [1, 2, 3].map((n) => ({ id: `e${n}`, text: `id: e${n}\ndata: {"n":${n}}\n\n` }));
  const length = events.map(({ text }) => text).join('').length;
  for (let cutAt = 0; cutAt <= length; cutAt++) {
    const { svc, requests } = await serverOf(
      (response, count, request) => {
        const last = request.headers['last-event-id'];
        const rest = events.slice(events.findIndex(({ id }) => id === last) + 1);
        const text = rest.map((one) => one.text).join('');
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(count === 1 ? text.slice(0, cutAt) : text, () => {
          if (count === 1) response.destroy();
        });
      },
      { maxDelayMs: 2 },
    );
    const seen = [];
    for await (const { n } of svc.events.stream({ lastEventId: 'e0' })) {
      seen.push(n);
      if (n === 3) break;
    }
    assert.deepEqual(seen, [1, 2, 3], `cut at ${cutAt}`);
    assert.equal(requests[0].headers['last-event-id'], 'e0');
  }
});

test('a stream ends by its signal, and by a refusal', async () => {
  const { svc } = await serverOf((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('id: e1\ndata: {"n":1}\n\n');
  });
  const stop = new AbortController();
  const seen = [];
  for await (const event of svc.events.stream({ signal: stop.signal })) {
    seen.push(event);
    stop.abort();
  }
  assert.equal(seen.length, 1);
  const refusing = await serverOf((response) =>
    json(response, 401, { _tag: 'UnauthorizedError', message: 'no' }),
  );
  await assert.rejects(async () => {
    for await (const _ of refusing.svc.events.stream());
  }, refused('UnauthorizedError'));
});

test('gives no event after an abort, though a piece holds more', async () => {
  const { svc } = await serverOf((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = Array.from({ length: 90 }, (_, n) => `id: e${n}\ndata: {"n":${n}}\n\n`);
    response.write(events.join(''));
  });
  const stop = new AbortController();
  const seen = [];
  for await (const { n } of svc.events.stream({ signal: stop.signal })) {
    seen.push(n);
    if (n === 1) stop.abort();
  }
  assert.deepEqual(seen, [0, 1]);
});

test('verifies webhooks: right, changed, old, another secret, several secrets', async () => {
  const secret = `whsec_${Buffer.from('0123456789012345678901234567890').toString('base64')}`;
  const other = `whsec_${Buffer.from('another-secret-of-thirty-bytes!').toString('base64')}`;
  const body = JSON.stringify({ type: 'message.delivered', data: { subject: 'Grüße' } });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = (content, key) =>
    createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`evt_1.${timestamp}.${content}`)
      .digest('base64');
  const headers = {
    'Webhook-Id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signed(body, secret)}`,
  };
  assert.deepEqual(await verifyWebhook(body, headers, secret), {
    ...JSON.parse(body),
    id: 'evt_1',
  });
  assert.equal(
    (await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret)).type,
    'message.delivered',
  );
  assert.equal((await verifyWebhook(body, headers, [other, secret])).type, 'message.delivered');
  const no = refused('WebhookVerificationError');
  await assert.rejects(verifyWebhook(`${body} `, headers, secret), no);
  await assert.rejects(verifyWebhook(body, headers, other), no);
  await assert.rejects(
    verifyWebhook(body, { ...headers, 'webhook-timestamp': '1000' }, secret),
    no,
  );
  await assert.rejects(verifyWebhook(body, { ...headers, 'webhook-timestamp': 'x' }, secret), no);
  await assert.rejects(verifyWebhook(body, {}, secret), no);
  await assert.rejects(
    verifyWebhook(body, { ...headers, 'webhook-signature': 'v1,@@@ v2,AAAA v1' }, secret),
    no,
  );
  await assert.rejects(verifyWebhook(body, headers, 'secret'), no);
});
