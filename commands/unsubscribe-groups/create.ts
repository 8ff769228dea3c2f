import { createGroupInput } from '../../src/people/unsubscribe-groups/schema.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create an unsubscribe group: a kind of mail to leave',
  examples: [
    ['Create a group for a newsletter', 'svc unsubscribe-groups create --name Newsletter'],
  ],
  body: createGroupInput,
  route: async () =>
    (await import('../../src/consent/opt-in/group-routes.ts')).unsubscribeGroupRoutes.create,
  card,
});
