import { memberRoutes } from '../../src/access/members/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the member (mem_…)');

export const card = [
  ...['id', 'email', 'name', 'role', 'status', 'signIn.link', 'signIn.passkey', 'signIn.provider'],
  ...['invitedBy', 'expiresAt', 'acceptedAt', 'lastSeenAt', 'createdAt'],
];

export default showCommand({
  examples: [['Show how a member signs in', 'svc members show mem_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: memberRoutes.get,
  card,
});
