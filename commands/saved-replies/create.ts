import { savedReplyRoutes } from '../../src/inbox/saved-replies/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card, words } from './show.ts';

export default createCommand({
  examples: [
    ['Save an answer', 'svc saved-replies create --name Hours --text "We are here from 9 to 17."'],
  ],
  ...words,
  route: savedReplyRoutes.create,
  card,
});
