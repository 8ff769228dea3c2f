// People of the organization: members and open invitations, the form that invites, and one member
// with role, status and removal.

import { keyRoutes } from '../../../../src/access/keys/routes.ts';
import type { ApiKey } from '../../../../src/access/keys/schema.ts';
import { memberRoutes } from '../../../../src/access/members/routes.ts';
import type { Member } from '../../../../src/access/members/schema.ts';
import { providerName } from '../../../../src/core/config/console.ts';
import { roles } from '../../../../src/core/config/roles.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { confirmed } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { button, check, choice, field, form, hidden } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { domainsWithoutMail } from './mail-domains.ts';

const roleWords: Readonly<Record<(typeof roles)[number], string>> = {
  owner: 'everything, and makes owners',
  admin: 'everything, but makes no owner',
  developer: 'all but people, keys and the organization',
  editor: 'campaigns, templates, brands and contacts',
  support: 'mailboxes; reads messages and contacts',
  analyst: 'figures and campaigns, reading',
  sender: 'sends single mails and follows them',
  viewer: 'reads everything',
};

const ways = ({ config }: Asked, { signIn: { link: isLink, passkey, provider } }: Member) =>
  [isLink && 'mailed link', passkey && 'passkey', provider && providerName(config)]
    .filter(Boolean)
    .join(', ') || '–';

async function list(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(memberRoutes.list, { query: { page: query['page'] } });
  const shown = table(
    asked,
    found,
    [
      ['Name', ({ id, name, email }) => link(`/people/${id}`, name ?? email)],
      ['Address', ({ email }) => email],
      ['Role', ({ role }) => role],
      ['Status', ({ status }) => state(status)],
      ['Signs in by', (member) => ways(asked, member)],
      ['Last here', (member) => lastHere(member)],
    ],
    'There is no member yet. Keys and "svc open" work without members.',
  );
  const body = together(
    shown,
    await hints(asked, found.items),
    may('members:write') && inviting(asked),
  );
  return { title: 'People', body, command: 'svc members list', request: 'GET /v1/members' };
}

function lastHere({ status, lastSeenAt, expiresAt }: Member): Part {
  if (status === 'invited') return expiresAt ? html`invited until ${time(expiresAt)}` : 'invited';
  return lastSeenAt ? time(lastSeenAt) : 'never came';
}

/**
 * Draws hints on active members: names without passkey and provider, names that never came, and
 * domains that take no mail.
 */
async function hints({ app, config }: Asked, members: readonly Member[]): Promise<Part> {
  const active = members.filter(({ status }) => status === 'active');
  const lost = await domainsWithoutMail(
    app,
    active.map(({ email }) => email),
  );
  const without = active.filter(({ signIn: { passkey, provider } }) => !passkey && !provider);
  const never = active.filter(({ lastSeenAt }) => lastSeenAt === null);
  const lines = [
    without.length > 0 && `Without passkey and ${providerName(config)}: ${namesOf(without)}.`,
    never.length > 0 && `Never came: ${namesOf(never)}.`,
    lost.length > 0 && `Domains that take no mail, so no link arrives: ${lost.join(', ')}.`,
  ].filter((line) => line !== false);
  if (lines.length === 0) return null;
  return html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

const mostNames = 10;

function namesOf(members: readonly Member[]): string {
  const names = members.slice(0, mostNames).map(({ name, email }) => name ?? email);
  const more = members.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function inviting(asked: Asked): Part {
  const described = Object.entries(roleWords).map(
    ([role, words]) => html`<div><dt>${role}</dt><dd>${words}</dd></div>`,
  );
  return together(
    html`<h2>Invite somebody</h2>`,
    form(
      asked,
      'invite',
      'Invite',
      html`
      ${field({ name: 'email', label: 'Mail address', type: 'email', isRequired: true })}
      ${choice({ name: 'role', label: 'Role', options: roles, value: 'viewer', empty: 'choose one' })}
      ${field({ name: 'name', label: 'Name', hint: 'May stay empty' })}
      <details><summary>What may each role do?</summary><dl class="facts">${described}</dl></details>
    `,
    ),
  );
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const member = await ask(memberRoutes.get, { params });
  const { status, name, email } = member;
  const body = together(
    html`<p>${state(status)} ${email}</p>`,
    facts({ ...member, ways: ways(asked, member) }, [
      ['Role', 'role'],
      ['Signs in by', 'ways'],
      ['Invited until', 'expiresAt'],
      ['Accepted', 'acceptedAt'],
      ['Last here', 'lastSeenAt'],
      ['Id', 'id'],
    ]),
    may('members:write') && changing(asked, member),
    may('members:delete') && (await removing(asked, member)),
  );
  return {
    title: name ?? email,
    body,
    command: `svc members show ${member.id}`,
    request: `GET /v1/members/${member.id}`,
  };
}

function changing(asked: Asked, { status, name, role }: Member): Part {
  const turn = status === 'disabled' ? 'active' : 'disabled';
  const label = status === 'disabled' ? 'Enable' : 'Disable: sessions here end at once';
  return together(
    html`<div class="row">
      ${status === 'invited' && button(asked, { action: 'resend', label: 'Invite again, by a new link' })}
      ${status !== 'invited' && button(asked, { action: 'status', label, fields: { status: turn } })}
    </div>`,
    form(
      asked,
      'rename',
      'Save the name',
      field({ name: 'name', label: 'Name', value: name ?? '' }),
    ),
    html`<form method="post" class="fields">${hidden(asked, 'role')}
      ${choice({ name: 'role', label: 'Role', options: roles, value: role, empty: 'choose one' })}
      <div class="row"><button class="btn">Change the role</button></div></form>`,
  );
}

/** Returns the active keys that a member made; empty if the caller may not read keys. */
async function keysOf({ ask, may }: Asked, createdBy: string): Promise<ApiKey[]> {
  if (!may('keys:read')) return [];
  const { items } = await ask(keyRoutes.list, { query: { createdBy, limit: 100 } });
  return items.filter(({ isActive }) => isActive);
}

/** Draws the removal of a member, with a box for each key that can be revoked at the same time. */
async function removing(asked: Asked, { id, name, email }: Member): Promise<Part> {
  const made = asked.may('keys:delete') ? await keysOf(asked, id) : [];
  const boxes = made.map((key) => check(key.id, `${key.name ?? 'without a name'}, ${key.start}…`));
  return together(
    html`<h2>Remove from the organization</h2>`,
    confirmed(asked, {
      action: 'remove',
      label: `Remove ${name ?? email}`,
      question: `Remove ${name ?? email} from the organization?`,
      goes: 'The sessions and invitations here end at once. Keys that the member made continue.',
      more: boxes.length > 0 && html`<fieldset><legend>Keys to revoke</legend>${boxes}</fieldset>`,
    }),
  );
}

/** Returns an action that changes the member. */
const change = (asks: string, body: (given: Form) => object) =>
  calls(memberRoutes.update, { asks, body });

export const memberPages: readonly Page[] = [
  {
    path: '/people',
    needs: 'members:read',
    show: list,
    actions: {
      invite: {
        needs: 'members:write',
        asks: 'invite this person',
        run: async ({ ask }, { email = '', role, name = '' }) => {
          const body = { email: email.trim(), role, ...(name.trim() && { name: name.trim() }) };
          await ask(memberRoutes.create, { body });
          return '/console/people';
        },
      },
    },
  },
  {
    path: '/people/:id',
    needs: 'members:read',
    show: one,
    actions: {
      rename: change('rename this member', ({ name = '' }) => ({ name: name.trim() || null })),
      role: change('change this role', ({ role }) => ({ role })),
      status: change('change this member', ({ status }) => ({ status })),
      resend: calls(memberRoutes.resend, { asks: 'invite this person again' }),
      remove: {
        needs: 'members:delete',
        asks: 'remove this person',
        destroys: true,
        async run(asked, given) {
          const { ask, params } = asked;
          const made = await keysOf(asked, params['id'] ?? '');
          await ask(memberRoutes.delete, { params });
          for (const { id } of made) {
            if (given[id] === '1') await ask(keyRoutes.revoke, { params: { id } });
          }
          return '/console/people';
        },
      },
    },
  },
];
