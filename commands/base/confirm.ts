// Asking before something is taken away for good (contract 2): on a terminal a question, elsewhere
// `--yes` or nothing is done.
import { InterruptedError, UsageError } from './failure.ts';

/**
 * Returns when the person agrees or has agreed with `--yes`.
 * @throws UsageError where nobody can be asked; InterruptedError when the answer is no.
 */
export async function confirmed(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${question} Nobody can be asked here: say --yes to do it.`);
  }
  const { confirm } = await import('@inquirer/prompts');
  const stopped = new InterruptedError('nothing was changed');
  const answer = await confirm(
    { message: question, default: false },
    { output: process.stderr },
  ).catch((error: unknown) => {
    throw error instanceof Error && error.name === 'ExitPromptError' ? stopped : error;
  });
  if (!answer) throw stopped;
}
