import { unsubscribeGroupRoutes } from '../../src/consent/opt-in/group-routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create an unsubscribe group: a kind of mail to leave',
  examples: [
    ['Create a group for a newsletter', 'svc unsubscribe-groups create --name Newsletter'],
  ],
  route: unsubscribeGroupRoutes.create,
  card,
});
