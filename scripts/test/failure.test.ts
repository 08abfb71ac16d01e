import { Writable } from 'node:stream';
import { Failure, report } from '@eloquentpoll/launch/failure';
import t from 'tap';

function reported(error: unknown): string {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  report(error, stream);
  return text;
}

/** A stack as one line, so that a test can compare the rest. */
const shortened = (text: string): string => text.replace(/(\n {4}at .*)+/g, ' at …');

t.test('a failure is shown without a stack, after the last lines of the tool that failed', async (t) => {
  t.equal(reported(new Failure('Install it.', ['one', 'two'])), '\n  │ one\n  │ two\n\nInstall it.\n');
});

t.test('a bug is shown with its stack and its causes', async (t) => {
  const error = new Error('the top', { cause: new Error('the middle', { cause: 'the root' }) });
  t.equal(shortened(reported(error)), '\nError: the top at …\n\nCause: Error: the middle at …\n\nCause: the root\n');
});

t.test('what was thrown first comes before what failed while cleaning up', async (t) => {
  const body = new Error('the body', { cause: new Error('its cause') });
  t.equal(
    shortened(reported(new SuppressedError(new Failure('Disk full.', ['last line']), body, 'both'))),
    '\nError: the body at …\n\nCause: Error: its cause at …\n\n  │ last line\n\nThen, while cleaning up: Disk full.\n',
  );
});

t.test('all errors of several at once are shown, each once', async (t) => {
  const both = new AggregateError([new Error('left'), new Error('right')], 'two failed');
  both.cause = both;
  t.equal(
    shortened(reported(both)),
    '\nAggregateError: two failed at …\n\nOne of them: Error: left at …\n\nOne of them: Error: right at …\n',
  );
});
