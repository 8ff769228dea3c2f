// The page behind an unsubscribe link with the public groups of the organization, in the look of
// its brand.
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { deleteGroup } from '../../../src/consent/opt-in/group-routes.ts';
import { leavingPage } from '../../../src/consent/unsubscribe-page/serve.ts';
import { createBrand, deleteBrand, updateBrand } from '../../../src/content/brands/brands.ts';
import type { CreateBrand } from '../../../src/content/brands/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { deleteMessage } from '../../../src/outbound/messages/messages.ts';
import { linkToken } from '../../../src/outbound/unsubscribe-links/tokens.ts';
import { listBlocks } from '../../../src/people/blocks/blocks.ts';
import { listBlocksQuery } from '../../../src/people/blocks/schema.ts';
import { createGroup, updateGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { stores } from '../../support/command.ts';
import { send, timeline } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const address = 'ada@example.com';

describe.each(stores)('the preference page on %s', (store) => {
  const test = eachApp({ store });
  let own: string;
  let offers: string;
  let link: string;
  let messageId: string;
  beforeEach(async () => {
    own = await group('News');
    offers = await group('Offers', { public: true, description: 'Now and then' });
    ({ id: messageId } = await send(test.app, test.caller, [address], {
      email: { unsubscribeGroupId: own },
    }));
    link = linkFor(own);
  });

  const group = async (name: string, more: object = {}, caller: Caller = test.caller) =>
    (await createGroup(test.app, caller, { name, ...more })).id;

  function linkFor(groupId: string, { organizationId } = test.caller): string {
    return `/u/${linkToken(test.app, { organizationId, groupId, messageId, address })}`;
  }

  async function ask(method: string, body?: string, path = link, app = test.app) {
    const asked = { method, path, headers: form, remoteAddress: null };
    const answer = await leavingPage.serve(app, {
      ...asked,
      ...(body && { body: Buffer.from(body) }),
    });
    const { status = 0, headers = {}, body: page = Buffer.from('') } = answer ?? {};
    return { status, headers, page: page.toString() };
  }

  const get = async (path = link) => (await ask('GET', undefined, path)).page;
  const press = (action: string, groupId: string, path = link) =>
    ask('POST', `action=${action}&group=${groupId}`, path);
  const blocks = async (caller = test.caller) => {
    const { items } = await listBlocks(test.app, caller, listBlocksQuery.parse({ limit: 100 }));
    return items.map(({ reason, unsubscribeGroupId }) => [reason, unsubscribeGroupId]);
  };

  /** Returns name, state and action of each listed group. */
  function listed(page: string): (string | undefined)[][] {
    return [...page.matchAll(/<li>[\s\S]*?<\/li>/g)].map(([item]) => [
      /<strong>(.*?)<\/strong>/.exec(item)?.[1],
      /(You[^<]*it\.)/.exec(item)?.[1],
      /name="action" value="(\w+)"/.exec(item)?.[1],
    ]);
  }

  const gets = 'You get it.';
  const not = 'You do not get it.';

  it('changes nothing for a form with an unknown action or group', async () => {
    const unknown = 'usg_06dq2k0qz8h3v5m1r9t4w7xy';
    const bodies = [
      ...['group=x', 'action=&group=x', 'action=steal&group=x', 'action=leave&group='],
      ...[`action=leave&group=${unknown}`, `action=return&group=${unknown}`],
      ...["action=leave&group=' or 1=1 --", 'action=leave&group=%00'],
      `action=leave&group=${'a'.repeat(4_000)}`,
    ];
    for (const body of bodies) {
      const { status, page } = await ask('POST', body);
      const isKnown = body.startsWith('action=leave') || body.startsWith('action=return');
      expect([body, status]).toEqual([body, isKnown ? 404 : 400]);
      expect(page).toContain('<h1>Unsubscribe</h1>');
    }
    expect(await blocks()).toEqual([]);
  });

  it('changes nothing for a group of another organization', async () => {
    const { id } = await createOrganization(test.app, { name: 'other', plan: 'self-hosted' });
    const foreign = await group('Theirs', { public: true }, operatorOf(id));
    const { status, page } = await press('leave', foreign);
    expect(status).toBe(404);
    expect(page).not.toContain('Theirs');
    expect([await blocks(), await blocks(operatorOf(id))]).toEqual([[], []]);
  });

  it('lists the public groups by name with their state', async () => {
    await group('Hidden');
    await group('Digest', { public: true });
    const page = await get();
    expect(listed(page)).toEqual([
      ['Digest', gets, 'leave'],
      ['Offers', gets, 'leave'],
    ]);
    expect(page).toContain('<span>Now and then</span>');
    expect(page).toContain('aria-label="Unsubscribe from Offers"');
    expect(page).not.toContain('Hidden');
    expect(page).not.toMatch(/null|undefined/);
  });

  it('lists no group of another organization', async () => {
    const { id } = await createOrganization(test.app, { name: 'other', plan: 'self-hosted' });
    await group('Theirs', { public: true }, operatorOf(id));
    expect(await get()).not.toContain('Theirs');
  });

  it('lists the group of the message once', async () => {
    await updateGroup(test.app, test.caller, own, { public: true });
    expect(listed(await get()).map(([name]) => name)).toEqual(['Offers']);
  });

  it('changes nothing on GET and HEAD', async () => {
    await ask('GET', undefined, `${link}?action=leave&group=${offers}`);
    expect((await ask('HEAD')).page).toBe('');
    expect(await blocks()).toEqual([]);
  });

  it('leaves and returns group by group', async () => {
    const left = await press('leave', offers);
    expect([left.status, left.headers.location, left.headers['set-cookie']]).toEqual([
      ...[200, undefined, undefined],
    ]);
    expect(left.page).toContain('<p class="done" role="status">You get no more “Offers”.</p>');
    expect(listed(left.page)).toEqual([['Offers', not, 'return']]);
    expect(left.page).toContain('<h1>Unsubscribe</h1>');
    expect(await blocks()).toEqual([['unsubscribe', offers]]);
    const back = await press('return', offers);
    expect(back.page).toContain('<p class="done" role="status">You get “Offers” again.</p>');
    expect(listed(back.page)).toEqual([['Offers', gets, 'leave']]);
    expect(await blocks()).toEqual([]);
  });

  it('leaves the group of the message by its id too', async () => {
    const { page } = await press('leave', own);
    expect(page).toContain('<h1>You are unsubscribed</h1>');
    expect(await blocks()).toEqual([['unsubscribe', own]]);
  });

  it('adds one block and one line of the timeline for repeated presses', async () => {
    await press('leave', offers);
    const { status, page } = await press('leave', offers);
    expect([status, listed(page)]).toEqual([200, [['Offers', not, 'return']]]);
    expect(await blocks()).toHaveLength(1);
    const told = await timeline(test.app, test.caller, messageId);
    expect(told.filter((one) => one.startsWith('unsubscribed'))).toHaveLength(1);
  });

  it('adds one block for concurrent presses at two daemons', async () => {
    const other = await test.another();
    const body = `action=leave&group=${offers}`;
    const presses = [test.app, other, test.app, other].map((app) => ask('POST', body, link, app));
    expect((await Promise.all(presses)).map(({ status }) => status)).toEqual(Array(4).fill(200));
    expect(await blocks()).toEqual([['unsubscribe', offers]]);
  });

  it('ends concurrent presses of both kinds in one of both states', async () => {
    await press('leave', offers);
    const actions = ['leave', 'return', 'leave', 'return', 'return'];
    await Promise.all(actions.map((action) => press(action, offers)));
    const found = await blocks();
    expect(found.length).toBeLessThanOrEqual(1);
    const state = found.length === 1 ? [not, 'return'] : [gets, 'leave'];
    expect(listed(await get())).toEqual([['Offers', ...state]]);
  });

  it('leaves a group that was public before', async () => {
    await updateGroup(test.app, test.caller, offers, { public: false });
    expect((await press('leave', offers)).status).toBe(200);
    expect(await blocks()).toEqual([['unsubscribe', offers]]);
  });

  it('says that a group was deleted meanwhile', async () => {
    await deleteGroup(test.app, test.caller, offers);
    const { status, page } = await press('leave', offers);
    expect(status).toBe(404);
    expect(page).toContain('That kind of mail no longer exists.');
    expect([listed(page), await blocks()]).toEqual([[], []]);
  });

  it('works after the message and its group are deleted', async () => {
    await deleteMessage(test.app, test.caller, messageId);
    await deleteGroup(test.app, test.caller, own);
    expect(listed((await press('leave', offers)).page)).toEqual([['Offers', not, 'return']]);
    await ask('POST', 'List-Unsubscribe=One-Click');
    expect(new Set((await blocks()).map(([, id]) => id))).toEqual(new Set([own, offers]));
  });

  it('unsubscribes from the group of the message by one click, whatever group is named', async () => {
    const body = `List-Unsubscribe=One-Click&action=leave&group=${offers}`;
    const { status, headers } = await ask('POST', body);
    expect([status, headers.location, headers['set-cookie']]).toEqual([200, undefined, undefined]);
    expect(await blocks()).toEqual([['unsubscribe', own]]);
  });

  it('shows each group as off while all mail is off', async () => {
    await ask('POST', 'action=leave-all');
    const page = await get();
    expect(listed(page)).toEqual([['Offers', not, undefined]]);
    expect(page.match(/<button/g)).toHaveLength(1);
    await ask('POST', 'action=return-all');
    expect(listed(await get())).toEqual([['Offers', gets, 'leave']]);
  });

  it('lists at most 100 groups and mentions the others', async () => {
    const more = 'There are more kinds of mail than this page lists.';
    await updateGroup(test.app, test.caller, own, { public: true, name: 'A first one' });
    for (let i = 1; i < 100; i++) await group(`Group ${i}`, { public: true });
    const full = await get();
    expect([listed(full).length, full.includes(more)]).toEqual([100, false]);
    await group('One more', { public: true });
    const cut = await get();
    expect([listed(cut).length, cut.includes(more)]).toEqual([100, true]);
  });

  it('escapes names and descriptions of groups', async () => {
    const evil = `"><script>alert(1)</script>'<b>&`;
    await group(evil, { public: true, description: evil });
    const { id } = await createGroup(test.app, test.caller, { name: evil, public: true });
    const { page } = await press('leave', id);
    expect(page).toContain('&#34;&#62;&#60;script&#62;');
    expect(page).not.toMatch(/<script|<b>|"">/);
  });
});

describe('the look of the preference page', () => {
  const test = eachApp();

  const brand = (more: Partial<CreateBrand>) =>
    createBrand(test.app, test.caller, { slug: 'acme', name: 'Acme', ...more });

  async function page() {
    const { organizationId } = test.caller;
    const { id: groupId } = await createGroup(test.app, test.caller, { name: 'News' });
    const messageId = test.app.newId('message');
    const path = `/u/${linkToken(test.app, { organizationId, groupId, messageId, address })}`;
    const asked = { method: 'GET', path, headers: {}, remoteAddress: null };
    const { headers = {}, body = Buffer.from('') } =
      (await leavingPage.serve(test.app, asked)) ?? {};
    return { policy: headers['content-security-policy'] ?? '', headers, html: body.toString() };
  }

  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const stylesIn = (html: string) =>
    [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style = '']) => style);

  it('is that of the service without a brand', async () => {
    const { policy, html } = await page();
    expect(stylesIn(html)).toHaveLength(1);
    expect(policy).toContain("img-src data:; form-action 'self'");
    expect(html).not.toMatch(/<img|<footer/);
  });

  it('has the logo, colours, company and address of the default brand', async () => {
    await brand({
      css: 'body { font-family: Georgia } .button { background: #7a1f1f; border-radius: 2px }',
      assets: {
        logoUrl: 'https://cdn.example.com:8443/l.png?a=1&b=2',
        logoDarkUrl: 'https://dark.example.com/d.png',
      },
      footer: {
        companyName: 'Acme & Co',
        address: { street1: '1 Main St', city: 'Springfield', region: 'IL', postalCode: '62701' },
      },
    });
    await createBrand(test.app, test.caller, { slug: 'other', name: 'Other' });
    const { policy, html } = await page();
    const [, own = ''] = stylesIn(html);
    expect(own).toContain('--button: #7a1f1f; --on-button: #ffffff;');
    expect(own).toContain('button { border-radius: 2px; }');
    expect(own).toContain('body { font-family: "Georgia"; }');
    expect(html).toContain(
      '<img class="logo" src="https://cdn.example.com:8443/l.png?a=1&#38;b=2" alt="Acme">',
    );
    expect(html).toContain('srcset="https://dark.example.com/d.png"');
    expect(html).toContain(
      '<footer><address>Acme &#38; Co<br>\n1 Main St<br>\n62701 Springfield<br>\nIL</address></footer>',
    );
    expect(policy).toContain(
      'img-src data: https://cdn.example.com:8443 https://dark.example.com; form-action',
    );
  });

  it('allows each of its styles by a hash, and nothing else', async () => {
    await brand({ css: 'h1 { color: #7a1f1f }' });
    const { policy, headers, html } = await page();
    const styles = stylesIn(html);
    expect(styles).toHaveLength(2);
    expect(policy).toBe(
      `default-src 'none'; style-src ${styles.map(hashOf).join(' ')}; img-src data:; ` +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('follows each change of the brand at once', async () => {
    await brand({ css: 'h1 { color: #111111 }', footer: { companyName: 'Old Ltd' } });
    expect((await page()).html).toContain('Old Ltd');
    const css = 'h1 { color: #222222 }';
    await updateBrand(test.app, test.operator, 'acme', { css, footer: { companyName: 'New Ltd' } });
    const { html } = await page();
    expect([html.includes('New Ltd'), stylesIn(html)[1]?.includes('#222222')]).toEqual([
      ...[true, true],
    ]);
    await deleteBrand(test.app, test.operator, 'acme');
    expect((await page()).html).not.toContain('New Ltd');
  });

  it('takes no rule of the CSS that could hide or replace a button', async () => {
    await brand({
      css: `button, form, main, * { display: none; opacity: 0; position: fixed !important }
        main::before { content: "You are unsubscribed"; background: url(https://a.example/x.png) }
        h1 { color: #222 }`,
    });
    const { policy, html } = await page();
    const [, own] = stylesIn(html);
    expect(own).toBe('@media (prefers-color-scheme: light) { h1, h2 { color: #222222; } }');
    expect(html).not.toContain('a.example');
    expect(policy).not.toContain('a.example');
  });

  it('escapes every field of a brand', async () => {
    const evil = `"><script>alert(1)</script>'<b>&`;
    const address = {
      ...{ street1: evil, street2: evil, city: evil, region: evil, postalCode: evil.slice(0, 30) },
      country: evil,
    };
    await brand({
      name: evil,
      assets: { logoUrl: `https://cdn.example.com/"><script>alert(1)</script>,'?<b>` },
      footer: { companyName: evil, address },
    });
    const { html } = await page();
    expect(html.match(/&#60;script&#62;alert/g)?.length).toBe(9);
    expect(html).not.toMatch(/<script|<b>|onerror|"">/);
    expect(html.match(/<img[^>]*>/g)).toHaveLength(1);
  });
});
