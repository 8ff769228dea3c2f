// Base of all commands: the common flags. A command parses, opens a session (session.ts), calls the
// same function as HTTP, and prints (output.ts).
import { Command, Flags, type Interfaces } from '@oclif/core';
import { keepCommandLine } from './account/account.ts';
import { inUsageWords } from './nouns/usage-words.ts';
import { type ServerFlags, serverFor } from './remote/server.ts';

export interface CommonFlags {
  config?: string | undefined;
  /** Undefined for the first organization. */
  org?: string | undefined;
  /** Address of the server to ask; undefined for the store beside the command. */
  server?: string | undefined;
  json: boolean;
  /** Set for a command that keeps root's account and gives new files to the owner of `dataDir`. */
  staysRoot?: true;
}

/** The flag for the server that is asked in place of the store. */
const serverFlag = Flags.string({
  description: 'Ask this server by its API, with the key in SVC_API_KEY',
  env: 'SVC_SERVER',
  helpValue: 'URL',
  helpGroup: 'GLOBAL',
});

/** Parts of a parsed command line that decide which server is asked. */
interface ServerChoice {
  flags: ServerFlags;
  raw: Interfaces.ParserOutput['raw'];
}

/** Sets the flag `server` to the address for this command. @throws UsageError */
async function chooseServer(
  { flags, raw }: ServerChoice,
  command: { id: string; asksServer: boolean },
): Promise<void> {
  const isTyped = raw.some((token) => token.type === 'flag' && token.flag === 'server');
  flags.server = await serverFor(flags, { ...command, isTyped });
}

export abstract class BaseCommand extends Command {
  /** Whether the command only calls routes of the API, so that a remote server can answer it. */
  static asksServer = false;

  static override baseFlags = {
    config: Flags.string({
      description: 'Configuration file',
      helpValue: 'FILE',
      helpGroup: 'GLOBAL',
    }),
    org: Flags.string({
      description: 'Organization to work in, by id or name (default: the first one)',
      env: 'SVC_ORG',
      helpValue: 'ORG',
      helpGroup: 'GLOBAL',
    }),
    server: serverFlag,
    json: Flags.boolean({
      description: 'Print the JSON object of the API and nothing else',
      default: false,
      helpGroup: 'GLOBAL',
    }),
  };

  /** Keeps oclif from reading standard input for missing arguments: `--data -` reads it. */
  protected override async init(): Promise<void> {
    await super.init();
    keepCommandLine({ id: this.id ?? '', words: this.argv });
    for (const arg of Object.values(this.ctor.args)) arg.ignoreStdin = true;
  }

  /** Parses, and chooses the server. @throws UsageError for a command that no server can answer */
  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(
    options?: Interfaces.Input<F, B, A>,
    argv?: string[],
  ): Promise<Interfaces.ParserOutput<F, B, A>> {
    const parsed = await super.parse(options, argv);
    const { asksServer } = this.ctor as typeof BaseCommand;
    await chooseServer(parsed as ServerChoice, { id: this.id ?? '', asksServer });
    return parsed;
  }

  /** Rewords usage errors so that they name the next step. */
  protected override async catch(error: Error): Promise<never> {
    throw inUsageWords(error, this.ctor);
  }
}

/** The flags of commands that print a list. */
export const tableFlags = {
  wide: Flags.boolean({
    description: 'Show whole values, however wide the terminal is',
    exclusive: ['json'],
  }),
  columns: Flags.string({
    description: 'Fields to show, as in --json: id,to.email',
    helpValue: 'FIELD,…',
    // Not `exclusive`: the usage line would end in an empty choice after `--wide | --json`.
    relationships: [{ type: 'none', flags: ['json'] }],
  }),
};

/** The flags of commands that read a page of a list. */
export const pageFlags = {
  page: Flags.string({ description: 'Page number, from 1', helpValue: 'N' }),
  limit: Flags.string({ description: 'Items per page, at most 100', helpValue: 'N' }),
};

/** Flag that skips the confirmation of a destructive command, such as a deletion or a restore. */
export const yesFlag = {
  yes: Flags.boolean({ description: 'Skip the question; required without a terminal' }),
};

/** Flag of commands whose API route takes a JSON body. */
export const dataFlag = {
  data: Flags.string({
    description: 'Body as JSON: inline, @FILE, or - for standard input; other flags override it',
    helpValue: 'JSON',
  }),
};
