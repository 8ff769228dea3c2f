// `svc open`. src/access/sessions/sessions.ts has the sessions of the console.
import { spawn } from 'node:child_process';
import { Args } from '@oclif/core';
import type { Config } from '../src/core/config/config.ts';
import { UnreachableError, ValidationError } from '../src/platform/errors.ts';
import { BaseCommand } from './base/command.ts';
import { print, writeNote, writeWarning } from './base/output/output.ts';
import { noticeOfForeignDaemon } from './base/same-store.ts';
import { withCaller } from './base/session.ts';

export default class Open extends BaseCommand {
  static override summary = 'Open the console in a browser, as the operator';

  static override description =
    'Prints a link that signs in once, within a minute, in the organization of --org. On a desktop it opens ' +
    'the browser too.';

  static override examples = [
    { description: 'Open the console', command: 'svc open' },
    { description: 'Open the list of messages', command: 'svc open messages' },
  ];

  static override args = {
    path: Args.string({ description: 'Page below /console, such as messages' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Open);
    await withCaller(flags, async (app, { organizationId }) => {
      if (!app.config.console.enabled) {
        throw new ValidationError('The console is off: set console.enabled in the configuration');
      }
      const base = await baseOf(app.config);
      const { makeLink } = await import('../src/access/sessions/sessions.ts');
      const to =
        args.path === undefined ? '' : `?to=${encodeURIComponent(`/console/${args.path}`)}`;
      const token = await makeLink(app, organizationId);
      const url = `${base}/console/open/${token}${to}`;
      await print(flags, { url }, () => url);
      if (!flags.json && process.stdout.isTTY && hasDesktop()) openBrowser(url);
      else writeNote('The link works once, within a minute.');
      const notice = await noticeOfForeignDaemon(app);
      if (notice !== null) writeWarning(notice);
    });
  }
}

/** Returns the address of the console. @throws UnreachableError if no daemon has one */
async function baseOf(config: Config): Promise<string> {
  if (config.http.publicUrl !== null) return config.http.publicUrl;
  const { addressOf } = await import('../src/service/status.ts');
  const address = await addressOf(config);
  if (address) return address.url;
  throw new UnreachableError(
    `No daemon of ${config.dataDir} runs, and http.port 0 names no address. Start it with "svc daemon".`,
  );
}

function hasDesktop(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return process.platform === 'darwin' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

function openBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  // If no such program exists, the person opens the printed link.
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
