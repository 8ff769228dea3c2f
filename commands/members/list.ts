import { memberRoutes } from '../../src/access/members/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List the people of the organization', 'svc members list'],
    [
      'Print the addresses of active owners',
      `svc members list --json | jq -r '.items[] | select(.role == "owner" and .status == "active") | .email'`,
    ],
  ],
  route: memberRoutes.list,
  columns: ['id', 'email', 'name', 'role', 'status', 'lastSeenAt'],
  whenEmpty: 'No members found. Invite one: svc members invite ADDRESS --role developer',
});
