package transform
const slots = 16
