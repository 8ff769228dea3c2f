// Asking before something is taken away for good: on a terminal a question, elsewhere
// `--yes` or nothing is done.
import { DeclinedError, InterruptedError, UsageError } from './failure.ts';

/**
 * Returns when the person agrees or has agreed with `--yes`.
 * @throws UsageError where nobody can be asked; DeclinedError when the answer is no;
 * InterruptedError when it is Ctrl-C.
 */
export async function confirmed(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${question} Nobody can be asked here: say --yes to do it.`);
  }
  const { confirm } = await import('@inquirer/prompts');
  const answer = await confirm(
    { message: question, default: false },
    { output: process.stderr },
  ).catch((error: unknown) => {
    const isStopped = error instanceof Error && error.name === 'ExitPromptError';
    throw isStopped ? new InterruptedError('nothing was changed') : error;
  });
  if (!answer) throw new DeclinedError('nothing was changed');
}
