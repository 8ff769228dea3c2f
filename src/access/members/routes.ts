// The HTTP operations on members.
import { area } from '../../core/api/area.ts';
import { nounRoutes } from '../../core/api/noun-routes.ts';
import { idPath } from '../../core/api/resource-schema.ts';
import { ConflictError, PaymentRequiredError } from '../../platform/errors.ts';
import {
  createMember,
  deleteMember,
  getMember,
  listMembers,
  resendInvitation,
  updateMember,
} from './members.ts';
import {
  createMemberInput,
  listMembersQuery,
  memberNoun,
  memberOutput,
  updateMemberInput,
} from './schema.ts';

const at = area('members', { about: 'People of an organization', noun: memberNoun });
const path = '/v1/members';

export const memberRoutes = {
  ...nounRoutes(at, path, {
    one: 'a member',
    many: 'members',
    output: memberOutput,
    list: { query: listMembersQuery, run: listMembers },
    create: {
      summary: 'Invite a member',
      description:
        'Mails an invitation that works once, for 7 days. Only a person invites, to a role that can do no more, ' +
        'and only an owner invites owners. An organization has at most 20 open invitations: then 409. ' +
        'An address gets five such mails a day: then 429.',
      body: createMemberInput,
      throws: [ConflictError, PaymentRequiredError],
      run: createMember,
    },
    get: { run: getMember },
    update: {
      description:
        'A new role ends an open invitation, and `disabled` the sessions of the person in this organization. ' +
        'Nobody changes the own role, and only an owner changes owners. The last active owner stays one: 409.',
      body: updateMemberInput,
      throws: [ConflictError],
      run: updateMember,
    },
    delete: {
      description:
        'Ends the sessions of the person in this organization. Keys that the member made stay: ' +
        '`GET /v1/api-keys?createdBy=mem_…` lists them. The last active owner is not deleted: 409.',
      throws: [ConflictError],
      run: deleteMember,
    },
  }),
  resend: at.post(`${path}/{id}/resend`, {
    name: 'resendMember',
    summary: 'Mail an invitation once more',
    description:
      'The earlier link is void, and the new one works for 7 days. An owner can also have a link mailed to a ' +
      'member who was away for 90 days; for any other active or disabled member: 409.',
    params: idPath(memberNoun, 'a member'),
    output: memberOutput,
    throws: [ConflictError, PaymentRequiredError],
    run: (app, { caller, params: { id } }) => resendInvitation(app, caller, id),
  }),
};
