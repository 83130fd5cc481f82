package transform
const slots = 96
