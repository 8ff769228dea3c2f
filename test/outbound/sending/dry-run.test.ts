// `dryRun: true` of a send: what would be sent, each refusal, and nothing stored.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import type { DryRunResult } from '../../../src/outbound/messages/schema.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { onPlan, usedToday, useToday } from '../../access/admission/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { payload, rawMail, send } from '../messages/fixtures.ts';

const html = '<p>It works.</p>';
const attachments = [{ filename: 'a.bin', content: 'AAEC', contentType: 'application/x-a' }];

describe.each(stores)('a dry run of a send on %s', (store) => {
  const world = eachApi({ store });
  const dryRun = async (email = {}, top = {}) => {
    const body = payload(email, { dryRun: true, ...top });
    const answer = await world.api.post<DryRunResult>('/v1/messages', body);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const rows = async () => {
    const counts: Record<string, number> = {};
    for (const table of ['messages', 'contents', 'blobs', 'deliveries', 'idempotency_claims']) {
      const { rows: found } = await sql<{ n: number }>`
        select count(*) as n from ${sql.table(table)}`.execute(world.test.app.store.db);
      counts[table] = Number(found[0]?.n);
    }
    return counts;
  };

  it('shows the content that would be sent', async () => {
    expect(await dryRun({ html, attachments })).toMatchObject({
      valid: true,
      problems: [],
      subject: 'Hello',
      html,
      text: 'It works.',
      suppressed: [],
    });
  });

  it('counts the bytes of the mail before its signatures', async () => {
    const { sizeBytes } = await dryRun({ html, attachments });
    const message = await send(world.api, payload({ html, attachments }));
    const mail = (await rawMail(world.api, message.id)).toString('latin1');
    const unsigned = mail.replace(
      /^(?:DKIM-Signature|X-Service-Token):.*\r\n(?:[ \t].*\r\n)*/gim,
      '',
    );
    expect(sizeBytes).toBe(unsigned.length);
  });

  it('stores nothing', async () => {
    const before = await rows();
    await dryRun({ html, attachments });
    expect(await rows()).toEqual(before);
  });

  it('draws on no quota', async () => {
    await onPlan(world.test, 'free');
    await dryRun();
    expect(await usedToday(world.test)).toMatchObject({ emails: 0 });
  });

  it('names every refusal in the order of the checks', async () => {
    const { app } = world.test;
    await onPlan(world.test, 'free');
    await useToday(world.test, 1_000);
    await pauseOrganization(app, 'default', {});
    const conversationId = 'conv_0123456789abcdefghjk';
    const from = { email: 'me@stranger.example' };
    const { valid, problems } = await dryRun({}, { conversationId, from });
    expect(valid).toBe(false);
    expect(problems.map(({ _tag }) => _tag)).toEqual([
      'ResourceNotFoundError',
      'ForbiddenError',
      'ForbiddenError',
      'PaymentRequiredError',
    ]);
  });

  it('gives no size to a mail without a sender', async () => {
    const { sizeBytes } = await dryRun({}, { from: { email: 'me@stranger.example' } });
    expect(sizeBytes).toBeNull();
  });

  it('advises on the HTML', async () => {
    const { warnings } = await dryRun({ html: '<p>Hi</p><img src="https://example.com/a.png">' });
    expect(warnings.map(({ code }) => code)).toContain('image-without-alt');
  });

  it('lists blocked recipients', async () => {
    const { app, operator } = world.test;
    await createBlock(app, operator, {
      address: 'ada@example.com',
      reason: 'manual',
    });
    const { valid, suppressed } = await dryRun();
    expect({ valid, suppressed }).toEqual({
      valid: true,
      suppressed: [{ address: 'ada@example.com', reason: 'manual' }],
    });
  });

  it('refuses an invalid body with 422', async () => {
    const answer = await world.api.post('/v1/messages', payload({ html: 7 }, { dryRun: true }));
    expect(answer.status).toBe(422);
  });

  it('sends with dryRun false', async () => {
    const answer = await world.api.post('/v1/messages', payload({}, { dryRun: false }));
    expect(answer.status).toBe(201);
  });
});
