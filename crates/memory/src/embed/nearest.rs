//! The similarity of vectors of length 1.

const LARGEST: f32 = 127.0;

/// A vector with one byte per value: a quarter of the memory, and faster to compare. The error of a
/// similarity is about one percent, so that the best ones are compared again with their values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Coded {
    pub(super) codes: Vec<i8>,
    /// The value of the code 1.
    pub(super) scale: f32,
}

impl Coded {
    pub(super) fn new(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = largest.max(f32::MIN_POSITIVE) / LARGEST;
        let codes = vector.iter().map(|value| (value / scale).round() as i8).collect();
        Self { codes, scale }
    }

    pub(super) fn widened(&self) -> Vec<i16> {
        self.codes.iter().map(|code| i16::from(*code)).collect()
    }
}

/// The product of a query and a passage, both coded, without their scales. The codes of a query are
/// wider, because the compiler then finds faster instructions.
pub(super) fn coded_product(query: &[i16], passage: &[i8]) -> i32 {
    query.iter().zip(passage).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}

pub(super) fn product(one: &[f32], other: &[f32]) -> f32 {
    // Separate sums let the compiler use vector instructions, as it may not reorder a single one.
    const LANES: usize = 8;
    let (ones, ones_left) = one.as_chunks::<LANES>();
    let (others, others_left) = other.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (one, other) in ones.iter().zip(others) {
        for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += one * other;
        }
    }
    let rest: f32 = ones_left.iter().zip(others_left).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

/// The similarity of the passage that is closest to the query; `None` without passages.
pub(super) fn best(query: &[f32], passages: &[f32]) -> Option<f32> {
    let passages = passages.chunks_exact(query.len().max(1));
    passages.map(|passage| product(query, passage)).max_by(f32::total_cmp)
}

#[cfg(test)]
mod tests {
    use accord_store::testing::Random;

    use super::*;

    fn unit_vector(random: &mut Random, dimension: usize) -> Vec<f32> {
        let values: Vec<f32> =
            (0..dimension).map(|_| random.below(2_001) as f32 / 1_000.0 - 1.0).collect();
        let length = product(&values, &values).sqrt();
        values.iter().map(|value| value / length).collect()
    }

    #[test]
    fn coded_vectors_are_close_to_their_values() {
        let mut random = Random::new(7);
        for dimension in [1, 3, 8, 13, 384] {
            for _ in 0..50 {
                let one = unit_vector(&mut random, dimension);
                let other = unit_vector(&mut random, dimension);
                let exact: f32 = one.iter().zip(&other).map(|(one, other)| one * other).sum();
                assert!((product(&one, &other) - exact).abs() < 1e-5);
                let (one, other) = (Coded::new(&one), Coded::new(&other));
                let coded = coded_product(&one.widened(), &other.codes) as f32;
                let coded = coded * one.scale * other.scale;
                assert!((coded - exact).abs() < 0.02, "{dimension}: {coded} {exact}");
            }
        }
    }

    #[test]
    fn the_best_passage_counts() {
        let query = [0.6, 0.8];
        assert_eq!(best(&query, &[]), None);
        assert_eq!(best(&query, &[-1.0, 0.0, 0.6, 0.8, 1.0, 0.0]), Some(1.0));
    }
}
