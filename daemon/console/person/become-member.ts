// The operator becomes a member: an owner with an address, by an invitation that opens at once.
import { startInvitation } from '../../../src/access/members/invitations.ts';
import { createMember } from '../../../src/access/members/members.ts';
import { members } from '../../../src/access/members/queries.ts';
import { createMemberInput } from '../../../src/access/members/schema.ts';
import { parseWith } from '../../../src/core/api/validate.ts';
import { html, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import { field, form } from '../parts/form.ts';

const livesMs = 10 * 60_000;

async function show(asked: Asked): Promise<View> {
  const { name } = asked.session.organization;
  const body = together(
    html`<p>As the operator you act without a name. A member of ${name} signs in by an address, with a passkey or a mailed link, from any machine.</p>`,
    form(
      asked,
      'become',
      'Become an owner',
      html`
      ${field({ name: 'email', label: 'Your mail address', type: 'email', isRequired: true })}
      ${field({ name: 'name', label: 'Your name, as colleagues see it' })}
    `,
    ),
  );
  return {
    title: 'Become a member',
    body,
    command: 'svc members invite ann@example.com --role owner',
  };
}

/** Makes the invitation. Returns the path of its page, whose button begins the session. */
async function become(asked: Asked, { email = '', name = '' }: Form): Promise<string> {
  const { app, caller } = asked;
  const typed = { email: email.trim(), role: 'owner', mail: false, name: name.trim() || null };
  const { id } = await createMember(app, caller, parseWith(createMemberInput, typed, 'body'));
  const token = await app.store.write(async (trx) => {
    const row = await members.get(trx, caller.organizationId, id);
    return startInvitation(app, trx, row, { messageId: null, livesMs });
  });
  return `/console/invitation/${token}`;
}

export const becomeMemberPages: readonly Page[] = [
  {
    path: '/become-member',
    needs: 'operator',
    show,
    actions: { become: { needs: 'operator', asks: 'become a member', run: become } },
  },
];
