use super::*;
use crate::memory::MemoryBackend;

fn plan(sizes: &[u64]) -> Plan {
    Plan {
        sizes: sizes.to_vec(),
        pair: "2:2".parse().unwrap(),
        budget: Duration::from_secs(60),
    }
}

/// Every shape completes on the provider that costs nothing, and runs what it says.
#[tokio::test(flavor = "multi_thread")]
async fn shapes_run_in_memory() {
    for shape in Shape::ALL {
        let curve = measure(shape, &MemoryBackend, &plan(&[5, 20]))
            .await
            .unwrap();
        assert_eq!(curve.points.len(), 2, "{}", shape.name());
        assert!(curve.points.iter().all(|point| point.p50_ms > 0.0));
        assert_eq!(shape.name().parse(), Ok(shape));
    }
    assert!("fan-out".parse::<Shape>().is_err());
}

fn curve(name: &str, times: [f64; 2]) -> Curve {
    let point = |(x, p50_ms)| Point {
        x,
        p50_ms,
        bytes: Some(p50_ms * 1_000.0),
        ..Point::default()
    };
    Curve {
        name: name.to_owned(),
        points: [100.0, 1_000.0].into_iter().zip(times).map(point).collect(),
        ..Curve::default()
    }
}

#[test]
fn goals_allow_for_the_growth_of_the_runtime_itself() {
    let curves = [curve("memory", [1.0, 3.0]), curve("ours", [2.0, 6.0])];
    let found = goals(Shape::Sequence, &curves, "ours", false);
    let told: Vec<_> = found
        .iter()
        .map(|fact| (fact.value, fact.name.contains(", met")))
        .collect();
    // The last one has no limit: what comes on top of the runtime's share.
    assert_eq!(told, [(1.0, true), (3.0, false), (2.0, true), (3.0, false)]);
    assert_eq!(goals(Shape::Sequence, &curves, "ours", true).len(), 3);
    let text = table(Shape::Sequence, &curves).to_string();
    assert!(text.contains("3.000") && text.contains("6.000"), "{text}");
}

#[test]
fn a_size_that_would_take_too_long_is_left_out() {
    let point = Point {
        p50_ms: 100.0,
        ..Point::default()
    };
    let seconds = |shape, size| expected(shape, &point, size).as_secs_f64().round();
    assert_eq!(seconds(Shape::Sequence, 1_000), 100.0);
    assert_eq!(seconds(Shape::LongHistory, 980), 100.0);
}
