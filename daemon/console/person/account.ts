// My account: the person's name and address, the organizations, ways to sign in, and sessions. All
// of it belongs to the person, except the name, which belongs to the membership in an organization.
import { leaveOrganization } from '../../../src/access/members/members.ts';
import { renameSelf } from '../../../src/access/members/own-name.ts';
import { placesOf } from '../../../src/access/members/persons.ts';
import { findPerson, type MemberRow } from '../../../src/access/members/queries.ts';
import { findOrganizations } from '../../../src/access/organizations/queries.ts';
import {
  endListedSession,
  endOtherSessions,
  listSessions,
} from '../../../src/access/sessions/person-sessions.ts';
import { strengthOfPerson } from '../../../src/access/sessions/person-strength.ts';
import type { Proof } from '../../../src/access/sessions/proofs.ts';
import { unbindPerson } from '../../../src/access/sessions/unbind.ts';
import { providerName } from '../../../src/core/config/console.ts';
import { askForAddress } from '../../../src/outbound/sending/people/address.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { Refusal } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { confirmed } from '../parts/confirm.ts';
import { facts } from '../parts/facts.ts';
import { button, field, form } from '../parts/form.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { passkeyActions, passkeyPage, passkeys } from './own-passkeys.ts';
import { noAccount, personOf, switchButton } from './person.ts';

const path = '/console/account';

const proofNames = ({ config }: Asked): Readonly<Record<Proof, string>> => ({
  key: 'by a key',
  operator: 'by svc open',
  link: 'by mailed link',
  passkey: 'by passkey',
  provider: `by ${providerName(config)}`,
});

async function show(asked: Asked): Promise<View> {
  const { caller } = asked;
  if (caller.by.kind !== 'member') {
    return { title: 'My account', body: html`<p>${noAccount}</p>` };
  }
  const { email } = caller.by;
  const body = together(
    facts({ name: caller.keyName, email, role: caller.roleName }, [
      ['Name here', 'name'],
      ['Address', 'email'],
      ['Role here', 'role'],
    ]),
    changeOfName(asked),
    changeOfAddress(asked),
    await organizations(asked),
    await passkeys(asked),
    await provider(asked),
    await sessions(asked),
  );
  return { title: 'My account', body };
}

function changeOfName(asked: Asked): Part {
  const value = asked.caller.keyName ?? '';
  const name = { name: 'name', label: 'Your name, as colleagues see it here', value };
  return html`<details><summary>Change your name</summary>${form(asked, 'rename', 'Save', field(name))}</details>`;
}

function changeOfAddress(asked: Asked): Part {
  const email = { name: 'email', label: 'New address', type: 'email', isRequired: true };
  return html`<details><summary>Change your address</summary>
    ${form(asked, 'address', 'Mail a link to the new address', field(email))}
    <p class="soft">It counts once you press the button behind that link. Your present address is told, and can stop the change for 7 days.</p>
  </details>`;
}

async function organizations(asked: Asked): Promise<Part> {
  const { app, session, caller } = asked;
  const places = await placesOf(app.store.db, personOf(asked).personId);
  const shown = places.filter(
    ({ organization_id }) => !session.isAlone || organization_id === caller.organizationId,
  );
  const ids = shown.map((place) => place.organization_id);
  const names = new Map(
    (await findOrganizations(app.store.db, ids)).map(({ id, name }) => [id, name]),
  );
  const list = table(
    asked,
    { items: shown },
    [
      ['Organization', ({ organization_id }) => names.get(organization_id)],
      ['Role', ({ role }) => role],
      ['Open it', (place) => opening(asked, place)],
    ],
    'You have no organization.',
  );
  const alone =
    session.isAlone &&
    html`<p class="soft">You came by an invitation, so this session opens this organization alone.</p>`;
  const { name } = session.organization;
  const confirm = { name: 'confirm', label: `Type "${name}" to confirm`, isRequired: true };
  const leaving = html`<details><summary>Leave ${name}</summary>
    <p>Your sessions here end. Keys that you made continue.</p>
    ${form(asked, 'leave', `Leave ${name}`, field(confirm))}</details>`;
  return together(html`<h2>Organizations</h2>`, list, alone, leaving);
}

function opening(asked: Asked, { status, organization_id }: MemberRow): Part {
  if (organization_id === asked.caller.organizationId) return 'You are here';
  if (status !== 'active') return 'You are disabled there';
  return switchButton(asked, organization_id, 'Switch');
}

async function provider(asked: Asked): Promise<Part> {
  const { app, config } = asked;
  const { issuer } = config.console.signIn.oidc;
  const label = providerName(config);
  const person = await findPerson(app.store.db, personOf(asked).personId);
  if (issuer === null && !person?.oidc_subject) return null;
  const act = person?.oidc_subject
    ? confirmed(asked, {
        action: 'unbind',
        label: `Unbind ${label}`,
        question: `Unbind ${label}?`,
        goes: `You do not sign in by ${label} any more.`,
      })
    : button(asked, { action: 'bind', label: `Bind ${label}` });
  const since = person?.bound_at
    ? html`<p>Bound since ${time(isoTime(person.bound_at))}.</p>`
    : null;
  return together(html`<h2>Sign-in by ${label}</h2>`, since, act);
}

async function sessions(asked: Asked): Promise<Part> {
  const { app, session } = asked;
  const items = await listSessions(app, personOf(asked).personId, session.token);
  const end = (id: string) => button(asked, { action: 'end', label: 'End', fields: { id } });
  const list = table(
    asked,
    { items },
    [
      ['Browser', ({ browser, isOwn }) => html`<b>${browser}</b>${isOwn && ' (this one)'}`],
      ['Network', ({ network }) => network],
      ['Began', ({ createdAt, proof }) => html`${time(createdAt)} ${proofNames(asked)[proof]}`],
      ['Last used', ({ lastSeenAt }) => time(lastSeenAt)],
      ['End it', ({ id, isOwn }) => (isOwn ? 'Sign out above' : end(id))],
    ],
    'There is no session.',
  );
  return together(
    html`<h2>Sessions</h2>`,
    list,
    html`<p class="soft">A sign-in from a new browser is mailed to you.</p>`,
    items.length > 1 &&
      confirmed(asked, {
        action: 'endOthers',
        label: 'End all others',
        question: 'End all other sessions?',
        goes: 'Every other browser is signed out.',
        look: '',
      }),
  );
}

export const accountPages: readonly Page[] = [
  {
    path: '/account',
    needs: null,
    strengthOf: (asked) => strengthOfPerson(asked.app, personOf(asked).personId),
    show,
    actions: {
      ...passkeyActions,
      rename: {
        needs: null,
        run: async ({ app, caller }, { name = '' }) => {
          await renameSelf(app, caller, name);
          return path;
        },
      },
      address: {
        needs: null,
        asks: 'change your address',
        run: async (asked, { email = '' }) => {
          const { personId } = personOf(asked);
          await askForAddress(asked.app, { personId, email: email.trim(), ...asked.visitor });
          const said = `A link went to ${email}. Your address changes once you press its button.`;
          return { to: path, said };
        },
      },
      bind: {
        needs: null,
        asks: 'bind a way to sign in',
        run: async () => '/console/sign-in/provider?for=bind',
      },
      unbind: {
        needs: null,
        asks: 'unbind a way to sign in',
        destroys: true,
        async run(asked) {
          const { app } = asked;
          await app.store.write((trx) => unbindPerson(app, trx, personOf(asked).personId));
          return path;
        },
      },
      leave: {
        needs: null,
        asks: 'leave this organization',
        run: async (asked, { confirm = '' }) => {
          if (confirm.trim() !== asked.session.organization.name) {
            throw new Refusal(
              422,
              { message: 'Type the name of the organization to leave it.' },
              '',
            );
          }
          await leaveOrganization(asked.app, asked.caller);
          return '/console';
        },
      },
      end: {
        needs: null,
        async run(asked, { id = '' }) {
          await endListedSession(asked.app, personOf(asked).personId, id);
          return path;
        },
      },
      endOthers: {
        needs: null,
        destroys: true,
        async run(asked) {
          await endOtherSessions(asked.app, personOf(asked).personId, asked.session.token);
          return path;
        },
      },
    },
  },
  passkeyPage,
];
