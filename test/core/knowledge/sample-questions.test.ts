import { expect, it } from 'vitest'
import { sampleQuestions } from '../../../src/core/knowledge/sample-questions.ts'

const questionFor = (heading: string) => sampleQuestions([{ source: 'a.md', title: undefined, headings: [heading] }])[0]

it.each([
  ['May dogs come along?', 'May dogs come along?'],
  ['How to rent a boat', 'How do I rent a boat?'],
  ['Adding your own documents', 'How do I add my own documents?'],
  ['Getting started', 'How do I get started?'],
  ['Set the port', 'How do I set the port?'],
  ['Running the tests', 'How do I run the tests?'],
  ['What is kept', 'What is kept?'],
  ['3.2) **Time limits** of `fetch`', 'What does “Time limits of fetch” say?'],
  ['Run statuses', 'What does “Run statuses” say?'],
  ['Set: union and difference', 'What does “Set: union and difference” say?'],
  ['Öffnungszeiten', 'What does “Öffnungszeiten” say?'],
  ['営業時間', 'What does “営業時間” say?'],
  ['[Deposit](#deposit) {#money}', 'What does “Deposit” say?'],
  ['Fees\u202e\u001b[31m', 'What does “Fees[31m” say?'],
])('of the heading %j it makes %j', (heading, question) => {
  expect(questionFor(heading)).toBe(question)
})

it.each([
  'Overview',
  'Table of contents',
  '1.2.0',
  '2026-01-31',
  'Chapter 3',
  'Getting them back',
  '',
  ' # ',
  'x'.repeat(61),
])('nobody asks about the heading %j', (heading) => {
  expect(questionFor(heading)).toBeUndefined()
})

it('takes one question of each document in turn, the most natural first, and none twice', () => {
  const outlines = [
    { source: 'b.md', title: 'Fees', headings: ['Fees', 'Deposit', 'How to pay'] },
    { source: 'a.md', title: 'Hours', headings: ['Hours', 'Winter hours'] },
    { source: 'faq.md', title: undefined, headings: ['May dogs come along?', 'How to pay'] },
  ]
  const questions = sampleQuestions(outlines)
  expect(questions).toEqual([
    'May dogs come along?',
    'How do I pay?',
    'What does “Hours” say about “Winter hours”?',
    'What does “Fees” say about “Deposit”?',
    'What does “Hours” say?',
    'What does “Fees” say?',
  ])
  expect(sampleQuestions(outlines.toReversed())).toEqual(questions)
})
