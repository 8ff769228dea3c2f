// Shared parts of the commands on families of templates.
import { Args } from '@oclif/core';
import type { CommonFlags } from '../command.ts';
import { printCard } from '../output/output.ts';
import { type LoadRoute, runRoute } from '../route.ts';
import { withCaller } from '../session.ts';
import type { Find } from '../verbs.ts';
import { templateArg, templateId } from './template-id.ts';

export const familyArgs = {
  family: Args.string({ description: 'Id of the family (tfam_…)', required: true }),
};

export const memberArgs = { ...familyArgs, ...templateArg };

/** Returns the argument as the parameter of the path. */
export const findFamily: Find = async (_app, _caller, familyId) => ({ familyId });

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
  await withCaller(flags, async (app, caller) => {
    const params = { familyId: family, templateId: await templateId(app, caller, template) };
    await printCard(flags, await runRoute(app, caller, await load(), { params }), familyCard);
  });
}
