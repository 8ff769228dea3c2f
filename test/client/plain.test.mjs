// The client against servers that misbehave, by `node --test`: also on Node 20, without any package.
// test/client/client.test.ts runs it on the Node of the tests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Svc, SvcError } from '../../client/index.js';
import { json, refused, serverOf } from './plain-server.mjs';

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
  await svc.contacts.import('email', { dryRun: true });
  await svc.templates.render('tpl_1', {});
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual(keys.with(2, typeof keys[2]), [
    'mine',
    'in the body',
    'string',
    undefined,
    undefined,
    undefined,
  ]);
});

test('repeats a dry run after a fault, as it changes nothing', async () => {
  const { svc } = await serverOf((response, count) => {
    if (count === 1) json(response, 500, { _tag: 'InternalError' });
    else json(response, 200, { valid: true });
  });
  assert.deepEqual(await svc.messages.send({ ...mail, dryRun: true }), { valid: true });
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
