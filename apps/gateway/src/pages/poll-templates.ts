import type { FreePoll } from './free-poll-form.ts';

/** Example polls, grouped by who asks them. Each is a link that fills in the form. */
export const TEMPLATES: readonly { who: string; poll: FreePoll }[] = [
  {
    who: 'Choose a name',
    poll: {
      question: 'Which name is clearest for a function that reads a result and throws when there is none?',
      options: ['getResult', 'requireResult', 'findResult', 'loadResult'],
    },
  },
  {
    who: 'Review a claim',
    poll: {
      question: 'Is this claim true: "HTTP/2 makes concatenating JavaScript files pointless"?',
      options: ['True', 'Partly true', 'False'],
    },
  },
  {
    who: 'Rank a backlog',
    poll: {
      question: 'A shop loses customers at checkout. Which of these should it do first?',
      options: ['Guest checkout', 'More payment methods', 'Faster pages', 'Free returns'],
    },
  },
  {
    who: 'Pick a tool',
    poll: {
      question: 'Which language should a small team start with for a web service?',
      options: ['TypeScript', 'Python', 'Go', 'Java'],
    },
  },
  {
    who: 'Triage a ticket',
    poll: {
      question:
        'A customer writes: "Since yesterday I am charged twice and get no answer." Which queue should it go to?',
      options: ['Billing, urgent', 'Billing, normal', 'Complaints', 'Technical support'],
    },
  },
  {
    who: 'Design a page',
    poll: {
      question: 'Which button text is clearest on a page where a user deletes a project for good?',
      options: ['OK', 'Delete project', 'Confirm', 'Proceed'],
    },
  },
  {
    who: 'Write a headline',
    poll: {
      question:
        'Which subject line would make a reader open an e-mail about a price increase, and feel fairly treated?',
      options: ['Our prices change on 1 May', 'An update to your plan', 'Why we are raising prices'],
    },
  },
  {
    who: 'Teach',
    poll: {
      question: 'Which analogy explains recursion best to a beginner?',
      options: ['Nested dolls', 'Two mirrors', 'A dictionary entry', 'A to-do list with a to-do list'],
    },
  },
  {
    who: 'Label data',
    poll: {
      question: 'What is the tone of this review: "Works, I suppose. It took three weeks to arrive."?',
      options: ['Positive', 'Neutral', 'Negative'],
    },
  },
  {
    who: 'Design a system',
    poll: {
      question: 'A queue may deliver a message twice. Where is a duplicate best caught?',
      options: ['In the producer', 'In the queue', 'In the consumer, by an idempotency key'],
    },
  },
];
