// Shared parts of the commands on families of templates.
import { Args } from '@oclif/core';
import type { CommonFlags } from '../command.ts';
import { printCard } from '../output/output.ts';
import { type LoadRoute, withSession } from '../route.ts';
import type { Find } from '../verbs.ts';
import { templateArg, templateId } from './template-id.ts';

export const familyArgs = {
  family: Args.string({ description: 'Id of the family (tfam_…)', required: true }),
};

export const memberArgs = { ...familyArgs, ...templateArg };

/** Turns the typed id into the path parameter of the route. */
export const findFamily: Find = async (_session, familyId) => ({ familyId });

export const familyCard = [
  ...['id', 'name', 'members.id', 'members.slug', 'members.status'],
  ...['createdAt', 'updatedAt'],
];

/** Runs a route on a member of a family, and prints the family. */
export async function changeMember(
  flags: CommonFlags,
  { family, template }: { family: string; template: string },
  load: LoadRoute<object>,
): Promise<void> {
  await withSession(flags, async (session) => {
    const params = { familyId: family, templateId: await templateId(session, template) };
    await printCard(flags, await session.ask(await load(), { params }), familyCard);
  });
}
