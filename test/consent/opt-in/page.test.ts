// The page behind a link to confirm a group.
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openWorkload } from '../../../daemon/http/workload.ts';
import { startTrackingListeners } from '../../../daemon/tracking/listeners.ts';
import { serveLinks } from '../../../daemon/tracking/serve.ts';
import { pendingAmong } from '../../../src/consent/opt-in/queries.ts';
import { confirmingPage } from '../../../src/consent/opt-in/serve.ts';
import { confirmToken, readConfirmToken } from '../../../src/consent/opt-in/tokens.ts';
import { leavingPage } from '../../../src/consent/unsubscribe-page/serve.ts';
import { createBrand } from '../../../src/content/brands/brands.ts';
import { linkToken } from '../../../src/outbound/unsubscribe-links/tokens.ts';
import { stores } from '../../support/command.ts';
import { httpFace } from '../../support/http-face.ts';
import { dayMs, hourMs, optInWorld } from './opt-in-world.ts';

const address = 'ada@example.com';

describe.each(stores)('the page to confirm a group on %s', (store) => {
  const world = optInWorld({ store });
  const { test, api, turn, group, contact, add, members, mails, ask, press } = world;

  async function asked(more: object = {}) {
    const groupId = await group(more);
    const contactId = await contact(address);
    await add(groupId, contactId);
    await turn();
    await turn();
    const link = (await mails()).at(-1)?.link ?? '';
    return { groupId, contactId, link };
  }

  const statusOf = async (groupId: string) => (await members(groupId)).items[0]?.status;
  const blocks = async () =>
    (await api.get<{ items: { reason: string }[] }>('/v1/email/blocks')).body.items;
  const block = (groupId: string | null) =>
    test.app.store.write(async (trx) => {
      const { insertBlocks } = await import('../../../src/people/blocks/queries.ts');
      const { newBlockRow } = await import('../../../src/people/blocks/blocks.ts');
      const { organizationId } = test.caller;
      const reason = 'unsubscribe' as const;
      const row = newBlockRow(test.app, organizationId, { address, reason, messageId: null });
      await insertBlocks(trx, [{ ...row, unsubscribe_group_id: groupId }]);
    });

  it('answers 404 for a link that is unknown, cut or of another kind', async () => {
    const { link } = await asked();
    const { organizationId } = test.caller;
    const foreign = test.app.secrets.seal('unsubscribe', `${organizationId} a b 1 ${address}`);
    const short = test.app.secrets.seal('confirm', `${organizationId} a b`);
    const paths = ['/c/', '/c/x', link.slice(0, -1), `${link}/x`, `/c/${foreign}`, `/c/${short}`];
    for (const path of [...paths, `/c/${'a'.repeat(5_000)}`]) {
      for (const method of ['GET', 'POST']) {
        const { status, heading } = await ask(method, path, 'action=confirm');
        expect([path, status, heading]).toEqual([path, 404, 'This link does not work']);
      }
    }
    expect((await ask('PUT', link)).status).toBe(404);
  });

  it('confirms nothing by GET or HEAD', async () => {
    const { groupId, link } = await asked();
    for (const method of ['GET', 'HEAD', 'GET']) {
      expect((await ask(method, link)).status).toBe(200);
    }
    expect(await statusOf(groupId)).toBe('pending');
  });

  it('confirms nothing by a form without the action', async () => {
    const { groupId, link } = await asked();
    for (const body of ['', 'action=', 'action=leave', 'List-Unsubscribe=One-Click']) {
      expect((await ask('POST', link, body)).status).toBe(400);
    }
    expect(await statusOf(groupId)).toBe('pending');
  });

  it('confirms by its button', async () => {
    const { groupId, link } = await asked({ description: 'Once a month' });
    const { page, headers } = await ask('GET', link);
    expect(page).toContain('Do you want “News” from');
    expect(page).toContain(address);
    expect(page).toContain('Once a month');
    expect(page).toContain('<input type="hidden" name="action" value="confirm">');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['cache-control']).toContain('no-store');
    const done = await press(link);
    expect([done.status, done.heading]).toEqual([200, 'Thank you']);
    expect(await statusOf(groupId)).toBe('confirmed');
  });

  it('says for a used link when it was confirmed', async () => {
    const { link } = await asked();
    await press(link);
    await test.clock.advance(30 * dayMs);
    for (const { status, heading, page } of [await ask('GET', link), await press(link)]) {
      expect([status, heading]).toEqual([200, 'This link was used']);
      expect(page).toContain('5 January 2026');
      expect(page).not.toContain('<form');
    }
  });

  it('works for 7 days', async () => {
    const { groupId, link } = await asked();
    await test.clock.advance(7 * dayMs - 10_000);
    expect((await ask('GET', link)).heading).toBe('Confirm “News”');
    await test.clock.advance(20_000);
    for (const answer of [await ask('GET', link), await press(link)]) {
      expect([answer.status, answer.heading]).toEqual([410, 'This link has expired']);
      expect(answer.page).toContain('sign up for it again');
    }
    expect(await statusOf(groupId)).toBe('pending');
  });

  it('confirms by the first of two links too', async () => {
    const { groupId, contactId, link } = await asked();
    await turn(hourMs);
    await add(groupId, contactId);
    await turn();
    expect(await mails()).toHaveLength(2);
    expect((await press(link)).heading).toBe('Thank you');
    expect(await statusOf(groupId)).toBe('confirmed');
  });

  it('lifts the unsubscribe of its group and no other block', async () => {
    const other = await group({ name: 'Offers' });
    const { groupId, link } = await asked();
    await block(groupId);
    await block(other);
    await block(null);
    await press(link);
    const left = await blocks();
    expect(left).toHaveLength(2);
    expect(left).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ unsubscribeGroupId: other }),
        expect.objectContaining({ unsubscribeGroupId: null }),
      ]),
    );
  });

  it('keeps an unsubscribe that came after the confirmation', async () => {
    const { groupId, link } = await asked();
    await press(link);
    await block(groupId);
    const { heading, page } = await press(link);
    expect(heading).toBe('This link was used');
    expect(page).toContain('unsubscribed since');
    expect(await blocks()).toHaveLength(1);
  });

  it('asks a contact that left again and lifts its block by the new link', async () => {
    const { groupId, contactId, link } = await asked();
    await press(link);
    await block(groupId);
    await turn(hourMs);
    const { items } = (await add(groupId, contactId)).body;
    expect(items).toMatchObject([{ status: 'confirmed', result: 'asked' }]);
    expect(await blocks()).toHaveLength(1);
    await turn();
    const second = (await mails()).at(-1)?.link ?? '';
    expect((await press(second)).heading).toBe('Thank you');
    expect(await blocks()).toEqual([]);
  });

  it('counts subscribing again on the unsubscribe page as the confirmation', async () => {
    const { groupId, contactId } = await asked();
    const { organizationId } = test.caller;
    const messageId = (await mails())[0]?.id ?? '';
    const token = linkToken(test.app, { organizationId, groupId, messageId, address });
    const go = (action: string) =>
      leavingPage.serve(test.app, {
        ...{ method: 'POST', path: `/u/${token}`, remoteAddress: null },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(`action=${action}`),
      });
    await go('return');
    expect(await statusOf(groupId)).toBe('pending');
    await go('leave');
    await go('return-all');
    expect(await statusOf(groupId)).toBe('pending');
    await go('return');
    expect(await statusOf(groupId)).toBe('confirmed');
    expect(await pendingAmong(test.app.store.db, groupId, [contactId])).toEqual(new Set());
  });

  it('does not confirm for a contact with another address, or that was removed', async () => {
    const { groupId, contactId, link } = await asked();
    await api.request('PATCH', `/v1/contacts/${contactId}`, { body: { email: 'b@example.com' } });
    expect((await press(link)).status).toBe(410);
    await api.request('PATCH', `/v1/contacts/${contactId}`, { body: { email: 'ADA@example.com' } });
    expect((await ask('GET', link)).status).toBe(200);
    const contactIds = [contactId];
    const path = `/v1/unsubscribe-groups/${groupId}/members`;
    await api.request('DELETE', path, { body: { contactIds } });
    expect((await press(link)).heading).toBe('This link does not work any more');
  });

  it('does not confirm after its contact or group is deleted', async () => {
    const { groupId, contactId, link } = await asked();
    await api.delete(`/v1/contacts/${contactId}`);
    expect((await press(link)).status).toBe(410);
    await api.delete(`/v1/unsubscribe-groups/${groupId}`);
    expect((await press(link)).status).toBe(410);
  });

  it('confirms once for concurrent presses at two daemons', async () => {
    const { link } = await asked();
    const second = await test.another();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => press(link, i % 2 ? second : test.app)),
    );
    expect(answers.filter(({ heading }) => heading === 'Thank you')).toHaveLength(1);
    const { body } = await api.get<{ items: unknown[] }>(
      '/v1/audit?action=unsubscribe-group.confirmed',
    );
    expect(body.items).toHaveLength(1);
  });

  it('answers a link of another organization as unknown on a tracking host', async () => {
    const { link } = await asked();
    const asking = { method: 'GET', path: link, headers: {}, remoteAddress: null };
    const at = async (organizationId: string) =>
      (await confirmingPage.serve(test.app, { ...asking, organizationId }))?.status;
    expect(await at(test.caller.organizationId)).toBe(200);
    expect(await at('org_06dq2k0qz8h3v5m1r9t4w7xy')).toBe(404);
  });

  it('escapes the name and description of the group', async () => {
    const evil = '<script>alert(1)</script>';
    const { link } = await asked({ name: evil, description: evil });
    const pages = [await ask('GET', link), await press(link), await ask('GET', link)];
    for (const { page } of pages) expect(page).not.toContain(evil);
    expect((await mails())[0]?.html).not.toContain(evil);
  });

  it('has the look of the default brand', async () => {
    const { link } = await asked();
    await createBrand(test.app, test.caller, {
      ...{ slug: 'acme', name: 'Acme', footer: { companyName: 'Acme Limited' } },
    });
    expect((await ask('GET', link)).page).toContain('Acme Limited');
  });
});

describe('a listener of tracking hosts', () => {
  const host = 'click.example.com';
  const tracking = { publicUrl: `https://${host}`, http: { host: '127.0.0.1', port: 0 } };
  const world = optInWorld({ config: { tracking } });

  it('serves the page and accepts its form', async () => {
    const { test, group, contact, add, turn, mails, members } = world;
    const listeners = await startTrackingListeners({
      app: test.app,
      workload: openWorkload(test.app),
      serve: serveLinks,
    });
    try {
      const id = await group();
      await add(id, await contact(address));
      await turn();
      const [mail] = await mails();
      expect(mail?.text).toContain(`https://${host}/c/`);
      const ask = (method: string, body?: string) =>
        new Promise<number>((resolve, reject) => {
          const headers = { host, 'content-type': 'application/x-www-form-urlencoded' };
          const port = listeners.httpPort ?? 0;
          const asked = request(
            { host: '127.0.0.1', port, method, path: mail?.link ?? '', headers },
            (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
          );
          asked.on('error', reject);
          asked.end(body);
        });
      expect(await ask('GET')).toBe(200);
      expect(await ask('POST', `action=confirm&more=${'x'.repeat(5_000)}`)).toBe(400);
      expect((await members(id)).items).toMatchObject([{ status: 'pending' }]);
      expect(await ask('POST', 'action=confirm')).toBe(200);
      expect((await members(id)).items).toMatchObject([{ status: 'confirmed' }]);
    } finally {
      await listeners.close(0);
    }
  });
});

describe('the main HTTP face', () => {
  const world = optInWorld({});

  it('serves the page without a key and accepts its form', async () => {
    const { test, group, contact, add, turn, mails, members } = world;
    const id = await group();
    await add(id, await contact(address));
    await turn();
    const [mail] = await mails();
    const url = mail?.link ?? '';
    const server = httpFace(test.app);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const page = await server.inject({ method: 'GET', url });
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('Yes, confirm')]);
    const done = await server.inject({ method: 'POST', url, headers, payload: 'action=confirm' });
    expect([done.statusCode, server.faults]).toEqual([200, []]);
    expect((await members(id)).items).toMatchObject([{ status: 'confirmed' }]);
    await server.close();
  });
});

describe('a token to confirm', () => {
  const world = optInWorld({});

  it('keeps the address of its mail, with spaces and capitals', () => {
    const asked = {
      ...{ organizationId: 'org_1', groupId: 'usg_1', contactId: 'contact_1' },
      mailedAt: 1_767_614_400_000,
      address: '"Ada Lovelace"@example.com',
    };
    const { app } = world.test;
    expect(readConfirmToken(app, confirmToken(app, asked))).toEqual(asked);
  });
});
