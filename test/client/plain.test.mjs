// The client against servers that misbehave, by `node --test`: also on Node 18, without any package. test/client/client.test.ts
// runs it on the Node of the tests.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { Svc, SvcError, verifyWebhook } from '../../client/index.js';
import { EventParser } from '../../client/stream.js';

const servers = [];
after(() => {
  for (const server of servers) server.closeAllConnections();
});

/** Starts a server; returns a client of it, and the requests that it got. */
async function serverOf(answer, options = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      requests.push({ method: request.method, url: request.url, headers: request.headers, body });
      answer(response, requests.length, request);
    });
  });
  servers.push(server);
  server.unref();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { svc: new Svc({ url, key: 'svc_live_test', ...options }), requests, url };
}

function json(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const refused = (tag) => (error) => error instanceof SvcError && error._tag === tag;
const mail = {
  channel: 'email',
  to: [{ email: 'a@example.com' }],
  email: { subject: 'Hi', text: 'ho' },
};

test('repeats 503 and 429 with one idempotency key, after Retry-After', async () => {
  const { svc, requests } = await serverOf((response, count) => {
    if (count === 1)
      json(response, 503, { _tag: 'CapacityError', message: 'full' }, { 'retry-after': '0' });
    else if (count === 2) json(response, 429, { _tag: 'RateLimitedError', retryAfterSeconds: 0 });
    else json(response, 201, { id: 'msg_1' });
  });
  const began = Date.now();
  assert.deepEqual(await svc.messages.send(mail), { id: 'msg_1' });
  assert.ok(Date.now() - began < 2_000);
  assert.equal(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.ok(requests[0].headers['idempotency-key'].length >= 32);
  assert.deepEqual(JSON.parse(requests[2].body), mail);
  await svc.messages.send(mail, { idempotencyKey: 'mine' });
  assert.equal(requests[3].headers['idempotency-key'], 'mine');
});

test('does not repeat a change that may have been made', async () => {
  const { svc, requests } = await serverOf((response) =>
    json(response, 500, { _tag: 'InternalError', message: 'no' }),
  );
  await assert.rejects(svc.senders.update('snd_1', { name: 'Ada' }), refused('InternalError'));
  assert.equal(requests.length, 1);
  await assert.rejects(svc.messages.get('msg_1', { retries: 1 }), refused('InternalError'));
  assert.equal(requests.length, 3);
});

test('sends a key with each POST that changes something, and none with a dry run', async () => {
  const { svc, requests } = await serverOf((response) => json(response, 200, {}));
  const later = { ...mail, scheduledFor: '2027-01-05T12:00:00Z' };
  await svc.messages.schedule(later, { idempotencyKey: 'mine' });
  await svc.messages.schedule({ ...later, idempotencyKey: 'in the body' });
  await svc.contacts.create({ email: 'a@example.com' });
  await svc.messages.send({ ...mail, dryRun: true }, { idempotencyKey: 'mine' });
  await svc.templates.render('tpl_1', {});
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual(keys.with(2, typeof keys[2]), [
    'mine',
    'in the body',
    'string',
    undefined,
    undefined,
  ]);
});

test('ends at once when the server asks for a longer wait than allowed', async () => {
  for (const after of ['86400', '1e9']) {
    const { svc, requests } = await serverOf((response) =>
      json(response, 429, { _tag: 'RateLimitedError', message: 'slow' }, { 'retry-after': after }),
    );
    await assert.rejects(svc.messages.get('msg_1'), refused('RateLimitedError'));
    assert.equal(requests.length, 1);
  }
});

test('goes by its own pauses when Retry-After is absurd', async () => {
  for (const after of ['-5', 'soon', 'NaN']) {
    const { svc } = await serverOf((response, count) => {
      if (count === 1) json(response, 503, { _tag: 'CapacityError' }, { 'retry-after': after });
      else json(response, 200, { id: 'msg_1' });
    });
    assert.deepEqual(await svc.messages.get('msg_1'), { id: 'msg_1' });
  }
});

test('gives errors of the API by their tag, with fields and request id', async () => {
  const { svc } = await serverOf((response) =>
    json(
      response,
      422,
      { _tag: 'ValidationError', message: 'to: missing', fields: { to: ['missing'] } },
      { 'x-request-id': 'req_1' },
    ),
  );
  await assert.rejects(svc.messages.send(mail), (error) => {
    assert.equal(error._tag, 'ValidationError');
    assert.deepEqual(error.fields, { to: ['missing'] });
    assert.equal(error.status, 422);
    assert.equal(error.requestId, 'req_1');
    return true;
  });
});

test('says so when the server is another one', async () => {
  const pages = [
    [200, 'text/html', '<html>Welcome to nginx</html>'],
    [404, 'text/html', '<html>Not found</html>'],
    [500, 'text/plain', 'oops'],
    [200, 'application/json', '{"id": "msg_'],
    [200, 'application/json', 'null null'],
  ];
  for (const [status, type, body] of pages) {
    const { svc } = await serverOf(
      (response) => {
        response.writeHead(status, { 'content-type': type });
        response.end(body);
      },
      { retries: 0 },
    );
    await assert.rejects(svc.messages.get('msg_1'), refused('UnexpectedAnswerError'), body);
  }
});

test('never follows a redirect with the key', async () => {
  const other = await serverOf((response) => json(response, 200, { id: 'stolen' }));
  const { svc } = await serverOf((response) => {
    response.writeHead(302, { location: `${other.url}/v1/messages/msg_1` });
    response.end();
  });
  await assert.rejects(svc.messages.get('msg_1', { retries: 0 }), refused('UnexpectedAnswerError'));
  assert.equal(other.requests.length, 0);
});

test('ends by time-out, by signal and without a server', async () => {
  const { svc, url } = await serverOf(() => {}, { retries: 0 });
  await assert.rejects(svc.messages.get('msg_1', { timeoutMs: 50 }), refused('TimeoutError'));
  const stop = new AbortController();
  const asked = svc.messages.get('msg_1', { signal: stop.signal });
  stop.abort();
  await assert.rejects(asked, refused('AbortError'));
  const gone = new Svc({ url: 'http://127.0.0.1:1', key: 'k', retries: 0 });
  await assert.rejects(gone.messages.get('msg_1'), refused('ConnectionError'));
  assert.ok(url);
});

test('an answer that ends early is an error, not a part of the truth', async () => {
  const { svc } = await serverOf(
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"id": "msg_1"');
      response.destroy();
    },
    { retries: 0 },
  );
  await assert.rejects(svc.messages.get('msg_1'), (error) => error instanceof SvcError);
});

test('keeps ids in their segment of the path', async () => {
  const { svc, requests } = await serverOf((response) => json(response, 200, {}));
  await svc.threads.get('a/../b?x=1#y', 'é\r\nX: 1');
  assert.equal(
    requests[0].url,
    '/v1/mailboxes/a%2F..%2Fb%3Fx%3D1%23y/threads/%C3%A9%0D%0AX%3A%201',
  );
  for (const id of ['', '.', '..', undefined, null, {}]) {
    assert.throws(() => svc.messages.get(id), TypeError);
  }
});

test('lists pages and items, by page and by cursor', async () => {
  const byPage = await serverOf((response, _count, request) => {
    const page = Number(new URL(request.url, 'http://a').searchParams.get('page') ?? 1);
    json(response, 200, {
      items: [{ id: page * 10 }, { id: page * 10 + 1 }],
      pagination: { page, totalPages: 3 },
    });
  });
  const ids = [];
  for await (const { id } of byPage.svc.contacts.list({ limit: 2, tag: ['a', 'b'] })) ids.push(id);
  assert.deepEqual(ids, [10, 11, 20, 21, 30, 31]);
  assert.match(byPage.requests[1].url, /limit=2&tag=a&tag=b&page=2/);
  assert.equal((await byPage.svc.contacts.list()).items.length, 2);
  const byCursor = await serverOf((response, count) =>
    json(response, 200, { items: [count], nextCursor: count < 3 ? `c${count}` : null }),
  );
  const pages = [];
  for await (const page of byCursor.svc.threads.list('mbx_1').pages()) pages.push(page.items);
  assert.deepEqual(pages, [[1], [2], [3]]);
  assert.match(byCursor.requests[2].url, /cursor=c2/);
});

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
  assert.equal((await verifyWebhook(body, headers, secret)).type, 'message.delivered');
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

test('needs an address and a key', () => {
  for (const options of [
    undefined,
    {},
    { url: 'x', key: 'k' },
    { url: 'ftp://a', key: 'k' },
    { url: 'http://a' },
  ]) {
    assert.throws(() => new Svc(options), TypeError);
  }
});

test('expect asks again while no mail comes, until its own bound', async () => {
  const missing = { _tag: 'ResourceNotFoundError', resource: 'message', id: 'a@example.com' };
  const { svc, requests } = await serverOf((response, count) => {
    if (count < 2) json(response, 404, missing);
    else json(response, 200, { message: { id: 'msg_1' }, text: 'ho', codes: [], links: [] });
  });
  const found = await svc.messages.expect({ to: 'a@example.com', within: '60s' });
  assert.equal(found.message.id, 'msg_1');
  assert.deepEqual(
    requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('within')),
    ['20s', '20s'],
  );
});

test('expect ends with the 404 at its own bound, and at once for any other refusal', async () => {
  const missing = { _tag: 'ResourceNotFoundError', resource: 'message', id: 'a@example.com' };
  const { svc, requests } = await serverOf((response) => json(response, 404, missing));
  const asked = svc.messages.expect({ to: 'a@example.com', within: 1 });
  await assert.rejects(asked, refused('ResourceNotFoundError'));
  assert.ok(requests.length >= 1 && requests.length <= 3);
  const invalid = await serverOf((response) => json(response, 422, { _tag: 'ValidationError' }));
  const wrong = invalid.svc.messages.expect({ to: 'a@example.com', within: 'soon' });
  await assert.rejects(wrong, refused('ValidationError'));
  assert.match(invalid.requests[0].url, /within=soon/);
});
