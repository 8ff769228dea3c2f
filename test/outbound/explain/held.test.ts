// A hold of the operator, in every place where people and programs look at the mail: the reason,
// and the command that lifts it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdQueue } from '../../../src/outbound/queue/desk/holds.ts';
import { consoleWorld, type World } from '../../console/world.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';

const reason = 'their disk is full';
const mail = {
  ...{ channel: 'email', to: [{ email: 'ada@example.com' }] },
  email: { subject: 'Hello', text: 'Hello' },
};

describe('a hold on a message, seen through the service', () => {
  let world: World;
  let id: string;
  let hold: { id: string; reason: string; release: string };
  beforeAll(async () => {
    world = await consoleWorld();
    ({ id } = await world.api('POST', '/v1/messages', mail));
    const made = await holdQueue(world.test.app, { id }, reason);
    hold = { id: made.id, reason, release: `svc queue release ${made.id}` };
  });
  afterAll(() => world.close());

  it.each(['', '/deliveries', '/email', '/events', '/explain'])(
    'is in the answer of GET /v1/messages/{id}%s',
    async (part) => {
      const text = JSON.stringify(await world.api('GET', `/v1/messages/${id}${part}`));
      expect(text).toContain(reason);
      expect(text).toContain(hold.id);
    },
  );

  it('is in a list of messages as an object', async () => {
    const { items } = await world.api('GET', '/v1/messages');
    expect(items).toMatchObject([{ id, deliveries: [{ scheduling: { hold } }] }]);
  });

  it('is in the answer of an MCP tool', async () => {
    const call = { name: 'messages_get', arguments: { id } };
    const { body } = await world.http.inject({
      ...{ method: 'POST', url: '/mcp' },
      headers: {
        authorization: `Bearer ${world.test.apiKey}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    });
    expect(body).toContain(reason);
    expect(body).toContain(hold.release);
  });

  it('is on the page of the message', async () => {
    const { body } = await (await world.operator()).get(`/console/messages/${id}`);
    expect(body).toContain(reason);
    expect(body).toContain(hold.release);
  });
});

describe('a hold on a domain, seen by commands', () => {
  let cli: CliWorkspace;
  let id: string;
  let release: string;
  beforeAll(async () => {
    cli = await initializedWorkspace();
    const words = ['--to', 'ada@example.com', '--subject', 'Hello', '--text', 'Hello'];
    ({ id } = await cli.json<{ id: string }>(['messages', 'send', ...words]));
    const hold = ['queue', 'hold', '--domain', 'example.com', '--note', reason];
    release = `svc queue release ${(await cli.json<{ id: string }>(hold)).id}`;
  });
  afterAll(() => cli.close());

  it.each([['show'], ['deliveries'], ['events'], ['explain']])(
    'is shown by svc messages %s',
    async (verb) => {
      const { stdout } = await cli.run(['messages', verb, id]);
      expect(stdout).toContain(reason);
      expect(stdout).toContain(release);
    },
  );

  it('is a status of the message until its release', async () => {
    expect((await cli.run(['messages', 'list'])).stdout).toMatch(/ held /);
    const [, ...words] = release.split(' ');
    await cli.json(words);
    expect((await cli.run(['messages', 'list'])).stdout).not.toContain('held');
  });
});
