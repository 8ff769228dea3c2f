// The search of the console over all nouns. Internal: it is not part of HTTP.
import { internalRoute } from '../core/api/route.ts';
import { searchQuery } from './schema.ts';
import { search } from './search.ts';

export const searchRoutes = {
  /**
   * Finds people, messages, threads, campaigns and templates, up to six of each:
   * `ask(searchRoutes.find, { query: { q } })` answers `Found` (schema.ts).
   */
  find: internalRoute({
    name: 'search',
    permission: 'any',
    query: searchQuery,
    run: (app, { caller, query: { q } }) => search(app, caller, q),
  }),
};
