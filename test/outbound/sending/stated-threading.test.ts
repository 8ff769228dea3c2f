// In-Reply-To and References that a send states in `email.headers`, for a thread that began
// elsewhere.
import { describe, expect, it } from 'vitest';
import { conversationNoun } from '../../../src/people/conversations/schema.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { payload, rawMail, send } from '../messages/fixtures.ts';

const root = '<root@elsewhere.example>';
const last = '<last.1@elsewhere.example>';
const many = (count: number) => Array.from({ length: count }, (_, at) => `<${at}@a.example>`);

/** Returns the values of a field in the bytes, unfolded. */
function valuesOf(raw: string, field: string): string[] {
  const header = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n(?=[ \t])/g, '');
  return header
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${field.toLowerCase()}:`))
    .map((line) => line.slice(field.length + 1).trim());
}

const roads = [
  ['/v1/messages', (body: object) => body, 'email.headers'],
  ['/v1/messages/batch', (body: object) => [body], 'email.headers'],
  [
    '/v1/messages/scheduled',
    (body: object) => ({ ...body, scheduledFor: '2026-01-06T12:00:00Z' }),
    'email.headers',
  ],
] as const;

describe.each(stores)('threading fields of a send, on %s', (store) => {
  const world = eachApi({ store });

  it.each([
    ['both', { 'In-Reply-To': last, References: `${root} ${last}` }, [last], [`${root} ${last}`]],
    ['another case', { 'in-reply-to': last, REFERENCES: root }, [last], [root]],
    ['In-Reply-To alone', { 'In-Reply-To': ` ${last} ` }, [last], [last]],
    ['References alone', { References: `${root}\t${last} ${root}` }, [], [`${root} ${last}`]],
    ['fifty ids', { References: many(50).join(' ') }, [], [many(50).join(' ')]],
  ])('are carried once: %s', async (_what, headers, inReplyTo, references) => {
    const { id } = await send(world.api, payload({ headers: { 'X-Order': '7', ...headers } }));
    const raw = (await rawMail(world.api, id)).toString('latin1');
    expect(valuesOf(raw, 'In-Reply-To')).toEqual(inReplyTo);
    expect(valuesOf(raw, 'References')).toEqual(references);
    expect(valuesOf(raw, 'X-Order')).toEqual(['7']);
  });

  const refusals: [string, Record<string, string>, string][] = [
    ['words', { 'In-Reply-To': 'your mail of Monday' }, 'In-Reply-To'],
    ['no brackets', { 'In-Reply-To': 'a@b.example' }, 'In-Reply-To'],
    ['no domain', { 'In-Reply-To': '<a>' }, 'In-Reply-To'],
    ['two ids', { 'In-Reply-To': `${root} ${last}` }, 'In-Reply-To'],
    ['an empty value', { References: '' }, 'References'],
    ['a word among ids', { References: `${root} Re:` }, 'References'],
    ['other letters', { References: '<ä@b.example>' }, 'References'],
    ['CRLF', { References: `${root}\r\nBcc: x@y.example` }, 'References'],
    ['51 ids', { References: many(51).join(' ') }, 'References'],
    ['a long id', { References: `<${'x'.repeat(1_000)}@a.example>` }, 'References'],
    ['8,001 characters', { References: many(50).join(' '.repeat(170)) }, 'References'],
  ];

  it.each(roads)('are refused on %s with the name of the field', async (path, bodyOf, at) => {
    for (const [what, headers, field] of refusals) {
      const { body } = await world.api.post(path, bodyOf(payload({ headers })));
      const error = Array.isArray(body) ? body[0].error : body;
      const fields = Object.keys(error.fields ?? {});
      expect([what, error._tag, fields]).toEqual([what, 'ValidationError', [`${at}.${field}`]]);
    }
  });

  it.each(roads)('are accepted on %s', async (path, bodyOf) => {
    const headers = { 'In-Reply-To': last, References: `${root} ${last}` };
    const { status, body } = await world.api.post(path, bodyOf(payload({ headers })));
    expect([200, 201]).toContain(status);
    const { id } = Array.isArray(body) ? body[0].message : body;
    const email = await world.api.get(`/v1/messages/${id}/email`);
    expect(email.body).toMatchObject({ inReplyTo: last, references: [root, last] });
  });

  it('are refused beside inReplyToMessageId', async () => {
    const { id } = await send(world.api);
    const email = { inReplyToMessageId: id, headers: { References: root } };
    const { status, body } = await world.api.post<{ fields: object }>(
      '/v1/messages',
      payload(email),
    );
    expect([status, Object.keys(body.fields)]).toEqual([422, ['email.headers.References']]);
  });

  it('join the conversation and the references of a message of ours', async () => {
    const conversation = await world.api.post<{ id: string }>('/v1/conversations', {});
    const conversationId = conversation.body.id;
    expect(conversationId).toMatch(new RegExp(`^${conversationNoun.prefix}_`));
    const first = await send(
      world.api,
      payload({ headers: { References: root } }, { conversationId }),
    );
    const own = `<${first.id}@sandbox.test>`;
    const answer = await send(world.api, payload({ headers: { 'In-Reply-To': own } }));
    expect(answer.conversationId).toBe(conversationId);
    const { body } = await world.api.get(`/v1/messages/${answer.id}/email`);
    expect(body).toMatchObject({ inReplyTo: own, references: [root, own] });
    const named = await send(world.api, payload({ headers: { References: `${root} ${own}` } }));
    expect(named.conversationId).toBe(conversationId);
  });

  it('name nothing of another organization', async () => {
    const foreign = `<msg_${'0'.repeat(24)}@sandbox.test>`;
    const { id } = await send(world.api, payload({ headers: { 'In-Reply-To': foreign } }));
    const { body } = await world.api.get(`/v1/messages/${id}/email`);
    expect(body).toMatchObject({ inReplyTo: foreign, references: [foreign] });
  });
});
