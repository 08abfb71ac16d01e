import { Failure } from '@eloquentpoll/launch/failure';
import t from 'tap';
import { parseVoteFile } from '../src/replay/vote-file.ts';

const HEAD = '# some text. Models in column order: a,b,c\nquestion_id,category,k,answer,votes\n';

t.test('a vote file', async (t) => {
  const file = parseVoteFile(`${HEAD}70,business,3,C,AB-\r\n72,law,10,J,J.J\n`, 'votes.csv');
  t.same(file.models, ['a', 'b', 'c']);
  t.same(file.questions, [
    { id: '70', category: 'business', optionCount: 3, answer: 2, votes: [0, 1, null] },
    { id: '72', category: 'law', optionCount: 10, answer: 9, votes: [9, undefined, 9] },
  ]);
});

t.test('another format is one clear error with the line [§I3-vote-file-format]', async (t) => {
  const refused: [text: string, message: string][] = [
    ['', 'votes.csv:1: expected a comment that ends with "Models in column order: ..."'],
    ['id,vote\n1,A\n', 'votes.csv:1: expected a comment that ends with "Models in column order: ..."'],
    ['Models in column order: a,b\n', 'votes.csv:1: expected a comment that ends with "Models in column order: ..."'],
    ['# Models in column order: a,,c\n', 'votes.csv:1: a model has no name'],
    ['# Models in column order: a,b,a\n', 'votes.csv:1: a model is named twice'],
    ['# Models in column order: a,b,c\n', 'votes.csv:2: expected the columns question_id,category,k,answer,votes'],
    [
      '# Models in column order: a,b,c\nid,k\n',
      'votes.csv:2: expected the columns question_id,category,k,answer,votes',
    ],
    [HEAD, 'votes.csv:2: expected a question'],
    [`${HEAD}1,x,4,A,AAA\n2,x,4,A\n`, 'votes.csv:4: expected 5 fields, found 4'],
    [`${HEAD}1,x,4,A,AAA,\n`, 'votes.csv:3: expected 5 fields, found 6'],
    [`${HEAD}\n1,x,4,A,AAA\n`, 'votes.csv:3: expected 5 fields, found 1'],
    [`${HEAD}1,x,1,A,AAA\n`, 'votes.csv:3: k is the number of options, 2 to 26, not "1"'],
    [`${HEAD}1,x,27,A,AAA\n`, 'votes.csv:3: k is the number of options, 2 to 26, not "27"'],
    [`${HEAD}1,x,4.5,A,AAA\n`, 'votes.csv:3: k is the number of options, 2 to 26, not "4.5"'],
    [`${HEAD}1,x,,A,AAA\n`, 'votes.csv:3: k is the number of options, 2 to 26, not ""'],
    [`${HEAD}1,x,4,E,AAA\n`, 'votes.csv:3: the answer is "E", which is none of 4 options'],
    [`${HEAD}1,x,4,,AAA\n`, 'votes.csv:3: the answer is "", which is none of 4 options'],
    [`${HEAD}1,x,4,AB,AAA\n`, 'votes.csv:3: the answer is "AB", which is none of 4 options'],
    [`${HEAD}1,x,4,A,AA\n`, 'votes.csv:3: expected 3 votes, found 2'],
    [`${HEAD}1,x,4,A,AEA\n`, 'votes.csv:3: vote 2 is "E", which is none of 4 options'],
    [`${HEAD}1,x,4,A,A@A\n`, 'votes.csv:3: vote 2 is "@", which is none of 4 options'],
    [`${HEAD}1,x,4,A,AAa\n`, 'votes.csv:3: vote 3 is "a", which is none of 4 options'],
  ];
  for (const [text, message] of refused)
    t.throws(() => parseVoteFile(text, 'votes.csv'), new Failure(message), message);
});
