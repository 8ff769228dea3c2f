import { Flags } from '@oclif/core';
import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { readJson } from '../base/input/body.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export const queryFlag = {
  query: Flags.string({
    description: 'Conditions of a group by query, as JSON: inline, @FILE, or - for standard input',
    helpValue: 'JSON',
  }),
};

/** Returns the field `query` of the body from the JSON in --query; empty without the flag. */
export async function queryOf({ query }: Record<string, unknown>): Promise<object> {
  return query === undefined ? {} : { query: await readJson(String(query), '--query') };
}

export default createCommand({
  examples: [
    ['Create an empty group', 'svc groups create --name Testers'],
    [
      'Create a group of all active customers',
      `svc groups create --name Customers --query '{"all":[{"tag":"customer"},{"status":"active"}]}'`,
    ],
  ],
  flags: queryFlag,
  more: queryOf,
  route: contactGroupRoutes.create,
  card,
});
